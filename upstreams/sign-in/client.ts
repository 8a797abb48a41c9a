import * as oauth from 'oauth4webapi'
import { isLoopback } from '../../lib/network.js'
import type { OAuthSettings } from '../server-entry.js'
import { SignInFailed, type GuardedFetch } from './guarded-fetch.js'
import type { AuthMethod, OAuthClient } from './sign-ins.js'
import { requestOptions } from './token-requests.js'

/** The client of a sign-in: the configured one, its metadata document where that will do, or a new registration. */
export async function chooseClient (
  guarded: GuardedFetch,
  server: oauth.AuthorizationServer,
  settings: OAuthSettings,
  redirectUri: string,
  signal: AbortSignal
): Promise<OAuthClient> {
  const { clientId: id, clientSecret: secret } = settings
  if (id !== undefined && (!isDocument(id) || server.client_id_metadata_document_supported === true)) {
    return { id, ...(secret !== undefined && { secret }), method: methodFor(server, secret) }
  }
  if (server.registration_endpoint !== undefined) return await register(guarded, server, redirectUri, signal)
  throw new SignInFailed(
    `the authorization server ${server.issuer} registers no clients by itself: register one there with the redirect URI ${redirectUri}, ` +
    'then set "oauth": {"clientId": "…", "callbackPort": …} of this server' +
    (id === undefined ? '' : '; it does not support client id metadata documents such as the configured one')
  )
}

/** True for the URL of a client id metadata document: https, with a path. */
const isDocument = (id: string): boolean =>
  /^https:/i.test(id) && URL.canParse(id) && new URL(id).pathname !== '/'

async function register (
  guarded: GuardedFetch,
  server: oauth.AuthorizationServer,
  redirectUri: string,
  signal: AbortSignal
): Promise<OAuthClient> {
  const metadata = {
    client_name: 'Patchbay',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    // Native clients come back to this machine alone.
    application_type: isLoopback(new URL(redirectUri).hostname) ? 'native' : 'web'
  }
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    metadata,
    requestOptions(guarded, 'the registration endpoint', signal)
  )
  const client = await oauth.processDynamicClientRegistrationResponse(response)
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = client
  if (typeof secret !== 'string') return { id, method: 'none' }
  return { id, secret, method: isMethod(method) ? method : methodFor(server, secret) }
}

const isMethod = (method: unknown): method is AuthMethod =>
  method === 'none' || method === 'client_secret_basic' || method === 'client_secret_post'

/** How a client with this secret proves who it is. */
export function methodFor (
  { token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer,
  secret: string | undefined
): AuthMethod {
  if (secret === undefined) return 'none'
  return methods?.includes('client_secret_basic') !== false ? 'client_secret_basic' : 'client_secret_post'
}
