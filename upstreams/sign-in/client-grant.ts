import type { BearerChallenge } from '../../protocol/http/challenge.js'
import type { ApiCredentials, OAuthSettings } from '../server-entry.js'
import type { ClientToken } from './client-credential.js'
import { methodFor } from './client.js'
import { discover, isSameIssuer } from './discovery.js'
import { GuardedFetch, rangeOfHost, SignInFailed } from './guarded-fetch.js'
import { requestClientToken } from './token-requests.js'

/** How long it may take in all, in milliseconds. */
const TIMEOUT = 30_000

/**
 * Asks for a token with the configured client. The secret is sent to the configured issuer alone, whatever the server
 * says about where to sign in. Throws in words.
 */
export async function obtainToken (
  settings: OAuthSettings,
  upstream: URL,
  challenge: BearerChallenge | undefined
): Promise<ClientToken> {
  const { clientId: id, clientSecret: secret, issuer } = settings
  if (id === undefined || secret === undefined || issuer === undefined) {
    throw new SignInFailed('set clientId, clientSecret and issuer in "oauth" of this server')
  }
  const signal = AbortSignal.timeout(TIMEOUT)
  const guarded = new GuardedFetch(await rangeOfHost(upstream))
  const { server, resource, scopes = [] } = await discover(guarded, upstream, challenge, signal, 'client_credentials')
  if (!isSameIssuer(server.issuer, issuer)) {
    throw new SignInFailed(
      `the server names the authorization server ${server.issuer}, and "oauth" has the issuer ${issuer}; the secret was not sent`
    )
  }
  const client = { id, secret, method: methodFor(server, secret) }
  return await requestClientToken(guarded, server, client, { scopes: settings.scopes ?? scopes, resource, signal })
}

/** Asks the token endpoint that is configured for an API. Throws in words. */
export async function obtainApiToken (credentials: ApiCredentials): Promise<ClientToken> {
  const { tokenUrl, clientId: id, clientSecret: secret, scopes = [] } = credentials
  const endpoint = new URL(tokenUrl)
  const server = { issuer: endpoint.origin, token_endpoint: tokenUrl }
  const client = { id, secret, method: 'client_secret_basic' } as const
  const guarded = new GuardedFetch(await rangeOfHost(endpoint))
  const signal = AbortSignal.timeout(TIMEOUT)
  return await requestClientToken(guarded, server, client, { scopes, signal, usesPlainBasic: true })
}
