import * as oauth from 'oauth4webapi'
import type { OAuthSettings, ServerEntry } from '../server-entry.js'
import { chooseClient } from './client.js'
import { discover, isSameIssuer, type Discovered } from './discovery.js'
import { SignInFailed } from './guarded-fetch.js'
import type { SignedIn } from './person.js'
import { MAX_WANTED, type OAuthClient, type SignIn, type SignIns } from './sign-ins.js'
import { probeServer, targetOf, type Target } from './target.js'
import { exchangeCode, inWords } from './token-requests.js'

/** A sign-in that a person has been sent to, until the browser comes back. Plain JSON, with secrets. */
export interface Begun {
  /** The address to sign in at. */
  readonly url: string
  readonly state: string
  readonly verifier: string
  readonly redirectUri: string
  readonly server: oauth.AuthorizationServer
  readonly resource: string
  readonly client: OAuthClient
  readonly scopes: readonly string[]
}

/** The way back of the browser, and what binds its answer to this sign-in. */
export interface Return { readonly redirectUri: string, readonly state: string }

/** Finds out where to sign in to a server, and registers there where need be. Throws in words. */
export async function beginSignIn (
  entry: ServerEntry,
  signIns: SignIns,
  key: string,
  { redirectUri, state }: Return,
  signal: AbortSignal
): Promise<Begun> {
  const target = await targetOf(entry)
  const former = await signIns.load(key).catch(() => undefined)
  const wanted = await signIns.wanted(key)
  const found = await discoverFor(target, signal)
  const scopes = scopesFor(entry, found, wanted, wanted.length === 0 ? undefined : former)
  const { server, resource } = found
  checkIssuer(entry.oauth ?? {}, server.issuer, former)
  const client = await inWords(server.issuer, async () =>
    await chooseClient(target.guarded, server, entry.oauth ?? {}, redirectUri, signal))
  const verifier = oauth.generateRandomCodeVerifier()
  const url = await target.guarded.check(server.authorization_endpoint, 'the authorization endpoint')
  const parameters = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    // Without it, OpenID Connect leaves offline_access out.
    ...(scopes.includes('offline_access') && { prompt: 'consent' })
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return { url: url.href, state, verifier, redirectUri, server, resource, client, scopes }
}

/**
 * Exchanges the answer that the browser brought for tokens, and stores them. Throws in words; nothing is stored before
 * the tokens are there.
 */
export async function finishSignIn (
  entry: ServerEntry,
  signIns: SignIns,
  key: string,
  begun: Begun,
  answer: URLSearchParams,
  signal: AbortSignal
): Promise<SignedIn & { isTaken: boolean }> {
  const { server, client, state, redirectUri, verifier, resource, scopes: requested } = begun
  const target = await targetOf(entry)
  // State and issuer are checked before anything of the answer is used, also where it is an error.
  const response = await inWords(server.issuer, async () =>
    oauth.validateAuthResponse(server, { client_id: client.id }, answer, state))
  const exchange = { redirectUri, verifier, resource, signal }
  const tokens = await exchangeCode(target.guarded, server, client, response, exchange)
  const { scopes = requested, ...rest } = tokens
  const record: SignIn = {
    issuer: server.issuer,
    resource,
    tokenEndpoint: server.token_endpoint ?? '',
    ...(server.revocation_endpoint !== undefined && { revocationEndpoint: server.revocation_endpoint }),
    client,
    requested,
    scopes,
    ...rest,
    signedInAt: tokens.obtainedAt
  }
  await signIns.save(key, record)
  const checked = await probeServer(target, record.accessToken, signal).catch(() => undefined)
  return {
    issuer: record.issuer,
    scopes: record.scopes,
    isRenewable: record.refreshToken !== undefined,
    isTaken: checked?.status !== 401
  }
}

async function discoverFor (target: Target, signal: AbortSignal): Promise<Discovered> {
  const { status, challenge, isUnknownMethod } = await probeServer(target, undefined, signal)
  if (status < 300 || isUnknownMethod) throw new SignInFailed('needs no sign-in: it answers without one')
  if (status !== 401 && status !== 403) {
    throw new SignInFailed(`does not ask for a sign-in, but answers with status ${status}; see that its "url" is right`)
  }
  return await discover(target.guarded, target.url, challenge, signal)
}

/**
 * A configured client belongs to one authorization server: neither its id nor its secret is for another, which a server
 * that was taken over may name. Where the configuration does not say which one, it is that of the last sign-in.
 */
function checkIssuer ({ clientId, issuer }: OAuthSettings, named: string, former: SignIn | undefined): void {
  if (issuer !== undefined) {
    if (isSameIssuer(named, issuer)) return
    throw new SignInFailed(
      `the server names the authorization server ${named}, and its "oauth" has the issuer ${issuer}; nothing was sent there`
    )
  }
  if (clientId === undefined || former === undefined || former.client.id !== clientId) return
  if (isSameIssuer(named, former.issuer)) return
  throw new SignInFailed(
    `the server names the authorization server ${named}, and the client of its "oauth" was used at ${former.issuer} until now; ` +
    'nothing was sent there. If that is right, sign out first, or set "issuer" in "oauth"'
  )
}

/** The configured scopes, or those that the server names, with those that calls asked for. */
function scopesFor (
  { oauth: settings }: ServerEntry,
  { scopes: named = [], server }: Discovered,
  wanted: readonly string[],
  former: SignIn | undefined
): string[] {
  const offline = server.scopes_supported?.includes('offline_access') === true ? ['offline_access'] : []
  const usual = new Set([...(settings?.scopes ?? named), ...offline])
  // The new ones first: what was asked for must not add up without an end.
  const more = [...new Set([...wanted, ...(former?.requested ?? [])])].filter(scope => !usual.has(scope))
  return [...usual, ...more.slice(0, 2 * MAX_WANTED)]
}
