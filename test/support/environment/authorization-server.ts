import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Owner } from '../owner.js'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

interface Details {
  readonly uid: string
  readonly prompt: { readonly name: string, readonly details: { missingResourceScopes?: Record<string, string[]> } }
  readonly params: { readonly client_id: string, readonly scope?: string, readonly resource?: string }
  readonly session?: { readonly accountId: string }
}

interface Grant {
  addOIDCScope: (scope: string) => void
  addResourceScope: (resource: string, scope: string) => void
  save: () => Promise<string>
}

interface Token { readonly aud?: string, readonly scope?: string, readonly isExpired: boolean }

/** The part of oidc-provider that is used, which has no types of its own. */
interface Provider {
  callback: () => Answer
  on: (event: string, listener: (context: { oidc: { params: { grant_type?: string } } }) => void) => void
  interactionDetails: (request: IncomingMessage, response: ServerResponse) => Promise<Details>
  interactionFinished: (
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
    options: { mergeWithLastSubmission: boolean }
  ) => Promise<void>
  Grant: new (of: { accountId: string, clientId: string }) => Grant
  AccessToken: { find: (token: string) => Promise<Token | undefined> }
  ClientCredentials: { find: (token: string) => Promise<Token | undefined> }
}

/** Clients that are registered before, and more of the configuration of oidc-provider. */
export interface ServerOptions { readonly clients?: object[], readonly configuration?: object }

/**
 * A real authorization server, oidc-provider, on a port of the loopback interface: everybody who comes is Alice, and
 * she agrees to everything.
 */
export class AuthorizationServer {
  /** Replies in place of the usual ones, by path. */
  readonly answers = new Map<string, Answer>()
  readonly asked: string[] = []
  /** The grants that were given, and refused. */
  readonly granted: string[] = []
  readonly refused: string[] = []
  readonly url: string
  readonly #provider: Provider

  constructor (url: string, provider: Provider) {
    this.url = url
    this.#provider = provider
    provider.on('grant.success', ({ oidc }) => this.granted.push(oidc.params.grant_type ?? ''))
    provider.on('grant.error', ({ oidc }) => this.refused.push(oidc.params.grant_type ?? ''))
  }

  count (path: string): number {
    return this.asked.filter(url => url === path).length
  }

  /** The scopes of a token for a resource; undefined where it is none of this server, or has expired. */
  async scopesOf (token: string, resource: string): Promise<string[] | undefined> {
    const { AccessToken, ClientCredentials } = this.#provider
    const found = await AccessToken.find(token) ?? await ClientCredentials.find(token)
    if (found === undefined || found.isExpired || found.aud !== resource) return undefined
    return (found.scope ?? '').split(' ')
  }

  async agree (request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await this.#provider.interactionDetails(request, response)
    const result = prompt.name === 'login'
      ? { login: { accountId: 'alice' } }
      : { consent: { grantId: await this.#grant(params, session?.accountId ?? 'alice') } }
    await this.#provider.interactionFinished(request, response, result, { mergeWithLastSubmission: prompt.name === 'consent' })
  }

  async #grant ({ client_id: clientId, scope = '', resource }: Details['params'], accountId: string): Promise<string> {
    const grant = new this.#provider.Grant({ accountId, clientId })
    grant.addOIDCScope('openid offline_access')
    if (resource !== undefined) grant.addResourceScope(resource, scope)
    return await grant.save()
  }
}

export async function startAuthorizationServer (
  t: Owner,
  { clients = [], configuration = {} }: ServerOptions = {}
): Promise<AuthorizationServer> {
  const Provider = await loadProvider()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => { server.closeAllConnections(); server.close(); await once(server, 'close') })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(url, { ...CONFIGURATION, clients, ...configuration })
  const issuer = new AuthorizationServer(url, provider)
  const serve = provider.callback()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    issuer.asked.push(path)
    const answer = issuer.answers.get(path)
    if (answer !== undefined) answer(request, response)
    else if (path.startsWith('/interaction/')) void issuer.agree(request, response)
    else serve(request, response)
  })
  return issuer
}

/** The package advises on the console, which the output of tests has no use for. */
async function loadProvider (): Promise<new (issuer: string, configuration: object) => Provider> {
  const isAdvice = (text: unknown): boolean => typeof text === 'string' && text.startsWith('oidc-provider ')
  for (const name of ['info', 'warn'] as const) {
    const write = console[name]
    console[name] = (text: unknown, ...more: unknown[]) => { if (!isAdvice(text)) write(text, ...more) }
  }
  return ((await import('oidc-provider' as string)) as { default: Awaited<ReturnType<typeof loadProvider>> }).default
}

const CONFIGURATION = {
  scopes: ['openid', 'offline_access'],
  interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  cookies: { keys: ['a key for tests'] },
  ttl: { AccessToken: 3_600, AuthorizationCode: 60, Grant: 3_600, Interaction: 600, RefreshToken: 3_600, Session: 600 },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: 'mcp files:write',
        audience: resource,
        accessTokenFormat: 'opaque'
      })
    }
  }
}

/**
 * Goes to an address as a browser does, with cookies and redirects, until it is sent to this machine's listener of a
 * sign-in. The address that it ends at; with `opens`, that is opened, too, and its page is given back.
 */
export async function browse (start: string, opens = true): Promise<{ url: string, status: number, text: string }> {
  const cookies = new Map<string, string>()
  let url = start
  for (let steps = 0; steps < 20; steps++) {
    if (new URL(url).pathname.endsWith('/callback') && !opens) return { url, status: 0, text: '' }
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const reply = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = reply.headers.get('location')
    if (location === null) return { url, status: reply.status, text: await reply.text() }
    await reply.body?.cancel()
    url = new URL(location, url).href
  }
  throw new Error('the browser was redirected too often')
}
