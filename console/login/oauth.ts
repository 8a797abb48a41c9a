import * as oauth from 'oauth4webapi'
import { LoginFailed, isHeaderText, readJson, type OAuthFacts } from './ticket.js'
import { rememberLogin, type Pending, type Returned } from './returned.js'

/** Tokens of an authorization server, and what is needed to renew them. In memory only. */
export interface Tokens {
  access: string
  refresh: string | undefined
  from: Pick<Pending, 'issuer' | 'resource' | 'clientId'>
}

interface ResourceMetadata { resource: string, authorization_servers: string[], scopes_supported?: string[] }

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/**
 * Sends the browser to the authorization server that the gateway names. `scopes`: in place of those that it advises.
 */
export async function beginLogin (
  { clientId, redirectUri, metadata }: OAuthFacts,
  scopes: string[] | undefined
): Promise<void> {
  if (new URL(redirectUri).href !== location.origin + location.pathname) {
    throw new LoginFailed('Log in at the address that the gateway is configured with:', redirectUri)
  }
  const {
    resource,
    authorization_servers: [issuer],
    scopes_supported: advised = []
  } = await readJson<ResourceMetadata>(metadata)
  if (issuer === undefined) throw new LoginFailed('The gateway names no authorization server.')
  const server = await discover(issuer)
  const [state, verifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const url = authorizationUrl(server)
  const all = [
    ...(scopes ?? advised),
    ...(server.scopes_supported?.includes('offline_access') === true ? ['offline_access'] : [])
  ]
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    resource,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(all.length > 0 && { scope: all.join(' ') })
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  rememberLogin({ issuer, resource, clientId, redirectUri, state, verifier, hash: location.hash })
  location.assign(url.href)
}

/** Exchanges what the authorization server answered for tokens. */
export async function finishLogin ({ pending, parameters }: Returned): Promise<Tokens> {
  if (pending === undefined) {
    throw new LoginFailed('This answer of an authorization server belongs to no login of this tab.')
  }
  const { issuer, resource, clientId, redirectUri, state, verifier } = pending
  const client = { client_id: clientId }
  try {
    const server = await discover(issuer)
    const checked = oauth.validateAuthResponse(server, client, parameters, state)
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      checked,
      redirectUri,
      verifier,
      { ...insecure(issuer), additionalParameters: { resource } }
    )
    return tokensOf(await oauth.processAuthorizationCodeResponse(server, client, response), {
      issuer,
      resource,
      clientId
    })
  } catch (error) {
    throw toFailure(error)
  }
}

/**
 * New tokens for old ones; undefined if the authorization server refuses them. Rejects if it does not answer, or with
 * nothing that can be used.
 */
export async function renew ({ refresh, from }: Tokens): Promise<Tokens | undefined> {
  if (refresh === undefined) return undefined
  const { issuer, resource, clientId } = from
  const client = { client_id: clientId }
  const server = await discover(issuer)
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refresh, {
    ...insecure(issuer),
    additionalParameters: { resource }
  })
  if (isRefusal(response)) return undefined
  return tokensOf(await oauth.processRefreshTokenResponse(server, client, response), from, refresh)
}

/** True where asking again later would not help. */
const isRefusal = ({ status }: Response): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429

function tokensOf (
  { access_token: access, refresh_token: refresh, token_type: type }: oauth.TokenEndpointResponse,
  from: Tokens['from'],
  before?: string
): Tokens {
  if (type !== 'bearer') {
    throw new LoginFailed('The authorization server gave a token of a kind that this page does not know:', type)
  }
  if (!isHeaderText(access)) {
    throw new LoginFailed(
      'The authorization server gave a token that cannot be sent: it has characters that are not ASCII, or spaces.'
    )
  }
  return { access, refresh: refresh ?? before, from }
}

/** The metadata of the authorization server, at the place of RFC 8414 or at that of OpenID Connect. */
async function discover (issuer: string): Promise<oauth.AuthorizationServer> {
  const url = new URL(issuer)
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    const response = await oauth.discoveryRequest(url, { algorithm, ...insecure(issuer) }).catch(() => undefined)
    if (response?.ok === true) return await oauth.processDiscoveryResponse(url, response)
  }
  throw new LoginFailed('The authorization server does not answer, or does not allow browsers to ask it:', issuer)
}

// A URL with another scheme could run a script in this page.
function authorizationUrl ({
  authorization_endpoint: endpoint,
  code_challenge_methods_supported: methods
}: oauth.AuthorizationServer): URL {
  const url = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : undefined
  if (url === undefined || !(url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname)))) {
    throw new LoginFailed('The authorization server names no https address to log in at.')
  }
  if (methods !== undefined && !methods.includes('S256')) {
    throw new LoginFailed('The authorization server does not support PKCE with S256.')
  }
  return url
}

/** Without TLS only on this machine. */
const insecure = (issuer: string): { [oauth.allowInsecureRequests]?: boolean } =>
  LOOPBACK.test(new URL(issuer).hostname) ? { [oauth.allowInsecureRequests]: true } : {}

function toFailure (error: unknown): Error {
  if (error instanceof LoginFailed) return error
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return new LoginFailed('The authorization server refused:', error.error_description ?? error.error)
  }
  return new LoginFailed(
    'The answer of the authorization server cannot be used:',
    error instanceof Error ? error.message : String(error)
  )
}
