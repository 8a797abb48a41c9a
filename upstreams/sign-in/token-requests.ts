import * as oauth from 'oauth4webapi'
import { oneLine } from '../../lib/one-line.js'
import { scopesIn } from '../../protocol/http/challenge.js'
import { GuardedFetch, NoAnswer, rangeOfHost, SignInFailed } from './guarded-fetch.js'
import type { OAuthClient, SignIn } from './sign-ins.js'

/** The authorization server refuses the refresh token, or the client: only a person can go on. */
export class GrantRefused extends Error {
  override readonly name = 'GrantRefused'
}

/** The tokens of a token response. */
export type Tokens = Pick<SignIn, 'accessToken' | 'refreshToken' | 'expiresAt' | 'obtainedAt'> & {
  readonly scopes: readonly string[] | undefined
}

const REFUSALS = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client'])
const MAX_TEXT = 200
/** The longest that a token is said to last, in seconds: a hundred years. Dates have an end. */
const LONGEST = 100 * 365 * 24 * 3_600

/** Sends requests of the library through the guarded fetch. Plain http is refused there, but for this machine. */
export function requestOptions (
  guarded: GuardedFetch,
  what: string,
  signal?: AbortSignal
): { [oauth.customFetch]: typeof fetch, [oauth.allowInsecureRequests]: boolean } {
  const guardedFetch = async (input: unknown, init: RequestInit = {}): Promise<Response> =>
    await guarded.fetch(new URL(String(input)), what, {
      method: init.method,
      headers: Object.fromEntries(new Headers(init.headers as Record<string, string>)),
      body: init.body == null ? undefined : String(init.body as URLSearchParams | string),
      signal
    })
  return { [oauth.customFetch]: guardedFetch as typeof fetch, [oauth.allowInsecureRequests]: true }
}

/** Exchanges a code, whose response was validated, for tokens. */
export async function exchangeCode (
  guarded: GuardedFetch,
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  response: URLSearchParams,
  exchange: { redirectUri: string, verifier: string, resource: string, signal: AbortSignal }
): Promise<Tokens> {
  const { redirectUri, verifier, resource, signal } = exchange
  return await inWords(server.issuer, async () => {
    const reply = await oauth.authorizationCodeGrantRequest(
      server,
      { client_id: client.id },
      authenticationOf(client),
      response,
      redirectUri,
      verifier,
      { ...requestOptions(guarded, 'the token endpoint', signal), additionalParameters: { resource } }
    )
    checkStatus(reply, server.issuer)
    return tokensOf(await oauth.processAuthorizationCodeResponse(server, { client_id: client.id }, reply))
  }, [response.get('code'), verifier, client.secret])
}

/**
 * Exchanges a refresh token for new tokens. Rejects with a `GrantRefused` where only a person can go on, and with a
 * `NoAnswer` where a later attempt may work.
 */
export async function refresh (signIn: SignIn, upstream: URL): Promise<Tokens> {
  const { issuer, tokenEndpoint, client, refreshToken = '', resource } = signIn
  const server = { issuer, token_endpoint: tokenEndpoint }
  const guarded = new GuardedFetch(await rangeOfHost(upstream))
  return await inWords(issuer, async () => {
    const reply = await oauth.refreshTokenGrantRequest(
      server,
      { client_id: client.id },
      authenticationOf(client),
      refreshToken,
      { ...requestOptions(guarded, 'the token endpoint'), additionalParameters: { resource } }
    )
    checkStatus(reply, issuer)
    return tokensOf(await oauth.processRefreshTokenResponse(server, { client_id: client.id }, reply))
  }, [refreshToken, signIn.accessToken, client.secret])
}

interface ClientTokenOptions {
  readonly scopes: readonly string[]
  readonly resource?: string
  readonly signal: AbortSignal
  /** True where dashes in the id and the secret stay as they are: not every server decodes them. */
  readonly usesPlainBasic?: boolean
}

/** Asks for an access token for the client itself. */
export async function requestClientToken (
  guarded: GuardedFetch,
  server: oauth.AuthorizationServer,
  client: OAuthClient,
  { scopes, resource, signal, usesPlainBasic = false }: ClientTokenOptions
): Promise<Tokens> {
  return await inWords(server.issuer, async () => {
    const reply = await oauth.clientCredentialsGrantRequest(
      server,
      { client_id: client.id },
      usesPlainBasic ? plainBasic(client) : authenticationOf(client),
      { ...(resource !== undefined && { resource }), ...(scopes.length > 0 && { scope: scopes.join(' ') }) },
      requestOptions(guarded, 'the token endpoint', signal)
    )
    checkStatus(reply, server.issuer)
    const response = await oauth.processClientCredentialsResponse(server, { client_id: client.id }, reply)
    return tokensOf(response)
  }, [client.secret])
}

/** Takes tokens back (RFC 7009). */
export async function revoke (signIn: SignIn, upstream: URL): Promise<void> {
  const { issuer, revocationEndpoint, client, refreshToken, accessToken } = signIn
  const token = refreshToken ?? accessToken
  if (revocationEndpoint === undefined || token === undefined) return
  const guarded = new GuardedFetch(await rangeOfHost(upstream))
  await inWords(issuer, async () => {
    const server = { issuer, revocation_endpoint: revocationEndpoint }
    const reply = await oauth.revocationRequest(
      server,
      { client_id: client.id },
      authenticationOf(client),
      token,
      requestOptions(guarded, 'the revocation endpoint')
    )
    await oauth.processRevocationResponse(reply)
  }, [refreshToken, accessToken, client.secret])
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

const plainBasic = ({ id, secret = '' }: OAuthClient): oauth.ClientAuth => (_server, _client, _body, headers) =>
  headers.set('authorization', `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`)

function authenticationOf ({ secret = '', method }: OAuthClient): oauth.ClientAuth {
  return method === 'none'
    ? oauth.None()
    : method === 'client_secret_basic'
      ? oauth.ClientSecretBasic(secret)
      : oauth.ClientSecretPost(secret)
}

function checkStatus ({ status }: Response, issuer: string): void {
  if (status >= 500 || status === 429 || status === 408) {
    throw new NoAnswer(`the authorization server ${issuer} cannot answer now: status ${status}`)
  }
}

function tokensOf (response: oauth.TokenEndpointResponse): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = response
  const type = response.token_type
  if (type !== 'bearer') throw new SignInFailed(`the authorization server gave a token of the type ${oneLine(type, 20)}, which Patchbay cannot use`)
  if (!/^[\x21-\x7e]+$/.test(accessToken)) {
    throw new SignInFailed('the authorization server gave a token that cannot be sent in a header')
  }
  const now = Date.now()
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(seconds !== undefined && { expiresAt: now + Math.min(seconds, LONGEST) * 1_000 }),
    obtainedAt: now,
    scopes: scope === undefined ? undefined : scopesIn(scope)
  }
}

/**
 * Turns errors of the library into ours. Theirs have whole responses in them, with tokens, which go no further. Where
 * the request had `secrets`, the reply may repeat them in any form: then only the code of its error is told.
 */
export async function inWords<T> (
  issuer: string,
  work: () => Promise<T>,
  secrets?: ReadonlyArray<string | null | undefined>
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SignInFailed || error instanceof NoAnswer) throw error
    if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError) {
      const { error: code, error_description: description } = error
      const words = secrets === undefined ? [code, description ?? ''] : [isTellable(code, secrets) ? code : 'it gave another error']
      const why = `the authorization server ${issuer} refused: ${words.map(visibleText).filter(text => text !== '').join(': ')}`
      throw REFUSALS.has(code) ? new GrantRefused(why) : new SignInFailed(why)
    }
    if (error instanceof oauth.WWWAuthenticateChallengeError) {
      throw new GrantRefused(`the authorization server ${issuer} refused the client`)
    }
    const why = error instanceof Error ? visibleText(error.message) : ''
    throw new SignInFailed(`the answer of the authorization server ${issuer} cannot be used: ${why}`)
  }
}

/** True for what has the form of a code, such as `invalid_request`, and nothing of a secret in it. */
const isTellable = (code: string, secrets: ReadonlyArray<string | null | undefined>): boolean =>
  /^[a-z_]{1,40}$/.test(code) && !secrets.some(secret => secret != null && secret !== '' && (code.includes(secret) || secret.includes(code)))

const visibleText = (text: string): string => oneLine(text, MAX_TEXT)
