import * as oauth from 'oauth4webapi'
import { readBearerChallenge, scopesIn, type BearerChallenge } from '../../protocol/http/challenge.js'
import { initializeParams, NO_CAPABILITIES } from '../../protocol/revisions/client-side.js'
import { isObject } from '../../protocol/wire/json.js'
import { encodeRequestWith } from '../../protocol/wire/jsonrpc.js'
import { NoAnswer, SignInFailed, type GuardedFetch } from './guarded-fetch.js'

/** The findings about a server that wants a sign-in: what tokens are for, who issues them, and their scopes. */
export interface Discovered {
  /** The resource that the token is asked for (RFC 8707). */
  readonly resource: string
  readonly server: oauth.AuthorizationServer
  /** The scopes that the server asks for, or those it has; undefined where it names none. */
  readonly scopes: readonly string[] | undefined
}

/** The answer of a server to a request without a token, or with this one. */
export interface Probed {
  readonly status: number
  readonly challenge: BearerChallenge | undefined
  /** True for an answer in MCP with the status 404: the first request of other eras is not known there. */
  readonly isUnknownMethod: boolean
}

const ACCEPT = { accept: 'application/json, text/event-stream' }

/** Asks the server whether it wants a token: with the first request of a client, or by opening its stream. */
export async function probe (
  guarded: GuardedFetch,
  url: URL,
  options: { isStream: boolean, token?: string | undefined, signal?: AbortSignal | undefined }
): Promise<Probed> {
  const { isStream, token, signal } = options
  const params = initializeParams({ name: 'mcp-patchbay', version: '1' }, NO_CAPABILITIES)
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const reply = await guarded.fetch(url, 'the server', {
    headOnly: status => status !== 404,
    signal,
    ...(isStream
      ? { headers: { accept: 'text/event-stream', ...authorization } }
      : {
          method: 'POST',
          headers: { ...ACCEPT, 'content-type': 'application/json', ...authorization },
          body: encodeRequestWith(1, 'initialize', JSON.stringify(params))
        })
  })
  const session = reply.headers.get('mcp-session-id')
  if (session !== null) {
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': String(params['protocolVersion']), ...authorization }
    await guarded.fetch(url, 'the server', { method: 'DELETE', headers, headOnly: () => true, signal }).catch(() => {})
  }
  const { status } = reply
  const body = status === 404 ? await reply.json().catch(() => undefined) as unknown : undefined
  const challenge = readBearerChallenge(reply.headers.get('www-authenticate') ?? undefined)
  return { status, challenge, isUnknownMethod: isObject(body) && body.jsonrpc === '2.0' }
}

/**
 * Finds out who issues tokens for a server, by this grant. Throws in words where that cannot be known or trusted.
 */
export async function discover (
  guarded: GuardedFetch,
  url: URL,
  challenge: BearerChallenge | undefined,
  signal: AbortSignal,
  grant: 'authorization_code' | 'client_credentials' = 'authorization_code'
): Promise<Discovered> {
  const metadata = await resourceMetadata(guarded, url, challenge, signal)
  const asked = challenge?.scopes ?? []
  const scopes = asked.length > 0 ? asked : metadata.scopes
  const server = await serverMetadata(guarded, metadata.issuer, signal)
  if (grant === 'authorization_code') await checkServer(guarded, server)
  else {
    const { issuer, grant_types_supported: grants } = server
    if (Array.isArray(grants) && !grants.includes(grant)) {
      throw new SignInFailed(`the authorization server ${issuer} does not support client credentials`)
    }
    await guarded.check(server.token_endpoint, 'the token endpoint')
  }
  return { resource: metadata.resource, server, scopes }
}

interface ResourceMetadata { readonly resource: string, readonly issuer: string, readonly scopes: string[] | undefined }

/**
 * The metadata of the protected resource: where the challenge says, or at the well-known places (RFC 9728). A server
 * without any is its own authorization server, as in the first revision with authorization.
 */
async function resourceMetadata (
  guarded: GuardedFetch,
  url: URL,
  challenge: BearerChallenge | undefined,
  signal: AbortSignal
): Promise<ResourceMetadata> {
  const what = 'the metadata of the server'
  const named = challenge?.resourceMetadata
  const path = url.pathname === '/' ? '' : url.pathname
  const places = named !== undefined
    ? [await guarded.check(named, what)]
    : [...new Set([path, ''])].map(end => new URL(`/.well-known/oauth-protected-resource${end}`, url.origin))
  for (const place of places) {
    const document = await fetchDocument(guarded, place, what, signal)
    if (document !== undefined) return readResource(document, url)
  }
  if (named !== undefined) throw new SignInFailed(`${what} is not where the server says, at ${named}`)
  return { resource: canonical(url), issuer: url.origin, scopes: undefined }
}

function readResource (document: Record<string, unknown>, url: URL): ResourceMetadata {
  const { resource, authorization_servers: servers, scopes_supported: scopes } = document
  if (typeof resource !== 'string' || !covers(resource, url)) {
    throw new SignInFailed('the metadata of the server is about another resource than its URL; it is not used')
  }
  const [issuer] = Array.isArray(servers) ? (servers as unknown[]) : []
  if (typeof issuer !== 'string') throw new SignInFailed('the metadata of the server names no authorization server')
  if (!isPlain(issuer)) throw new SignInFailed(`the metadata of the server names the authorization server ${issuer}, which ${NO_URL}`)
  const known = Array.isArray(scopes) ? scopesIn(scopes.filter(scope => typeof scope === 'string').join(' ')) : undefined
  return { resource, issuer, scopes: known }
}

const NO_URL = 'has characters in it that no URL has; it is not used'

/** True for a text of the characters that a URL may consist of: URLs are told, and parsing one would hide others. */
const isPlain = (url: string): boolean => /^[\x21-\x7e]+$/.test(url)

/** True when a resource is the URL itself, or a part of the same origin that the URL lies in. */
function covers (resource: string, url: URL): boolean {
  if (!URL.canParse(resource)) return false
  const { origin, pathname, hash } = new URL(resource)
  const folder = pathname.endsWith('/') ? pathname : `${pathname}/`
  return origin === url.origin && hash === '' && `${url.pathname}/`.startsWith(folder)
}

/** The URL as a resource: without query and, at the root, without its slash. */
const canonical = ({ origin, pathname }: URL): string => origin + (pathname === '/' ? '' : pathname)

/** The metadata of an authorization server, at the places of RFC 8414 and OpenID Connect, in MCP's order. */
async function serverMetadata (
  guarded: GuardedFetch,
  issuer: string,
  signal: AbortSignal
): Promise<oauth.AuthorizationServer> {
  const what = 'the metadata of the authorization server'
  const url = await guarded.check(issuer, 'the authorization server')
  if (url.search !== '' || url.hash !== '') throw new SignInFailed('the authorization server has a query in its URL')
  const path = url.pathname.replace(/\/$/, '')
  const places = path === ''
    ? ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
    : [
        `/.well-known/oauth-authorization-server${path}`,
        `/.well-known/openid-configuration${path}`,
        `${path}/.well-known/openid-configuration`
      ]
  for (const place of places) {
    const document = await fetchDocument(guarded, new URL(place, url.origin), what, signal)
    if (document === undefined) continue
    // As the specification demands: a document about another issuer is not used, wherever it was found.
    if (typeof document['issuer'] !== 'string' || !isPlain(document['issuer']) || !isSameIssuer(document['issuer'], issuer)) {
      throw new SignInFailed(`${what} is about another issuer than ${issuer}; it is not used`)
    }
    return document as unknown as oauth.AuthorizationServer
  }
  throw new SignInFailed(
    `${issuer} publishes no metadata of an authorization server; if this server takes a token or key, set it in "headers"`
  )
}

/** Only the slash of an origin may be missing: `https://a.example` is the same identifier as `https://a.example/`. */
export const isSameIssuer = (one: string, other: string): boolean =>
  one === other || (URL.canParse(one) && new URL(one).href === other) || `${one}/` === other

async function checkServer (guarded: GuardedFetch, server: oauth.AuthorizationServer): Promise<void> {
  const { issuer, code_challenge_methods_supported: methods, response_types_supported: types } = server
  if (!Array.isArray(methods) || !methods.includes('S256')) {
    throw new SignInFailed(`the authorization server ${issuer} does not say that it supports PKCE with S256; it is not used`)
  }
  if (Array.isArray(types) && !types.includes('code')) {
    throw new SignInFailed(`the authorization server ${issuer} does not support authorization codes`)
  }
  await guarded.check(server.authorization_endpoint, 'the authorization endpoint')
  await guarded.check(server.token_endpoint, 'the token endpoint')
  for (const [endpoint, what] of [
    [server.registration_endpoint, 'the registration endpoint'],
    [server.revocation_endpoint, 'the revocation endpoint']
  ] as const) if (endpoint !== undefined) await guarded.check(endpoint, what)
}

/** A JSON document; undefined where there is none. */
async function fetchDocument (
  guarded: GuardedFetch,
  url: URL,
  what: string,
  signal: AbortSignal
): Promise<Record<string, unknown> | undefined> {
  const reply = await guarded.fetch(url, what, { headers: { accept: 'application/json' }, signal })
  const { status } = reply
  if (status >= 500 || status === 429) throw new NoAnswer(`${what} (${url.href}) cannot be had now: status ${status}`)
  if (status >= 300 && status < 400) throw new SignInFailed(`${what} (${url.href}) redirects elsewhere, which is not followed`)
  if (status !== 200) return undefined
  const document = await reply.json().catch(() => undefined) as unknown
  // A page in place of a document: nothing is there.
  return isObject(document) ? document : undefined
}
