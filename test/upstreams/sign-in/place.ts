import type { Test } from 'tap'
import { pino } from 'pino'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { flatten, resolveOptions, type Options } from '../../../options.js'
import {
  browse,
  startAuthorizationServer,
  type AuthorizationServer,
  type ServerOptions
} from '../../support/environment/authorization-server.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { protect, type ProtectedServer, type Refused } from '../../support/environment/protected-server.js'
import { gateway } from '../../support/gateway.js'
import { newestLegacy } from '../../support/specification/revisions.js'
import { openFixture, type Way } from '../fixture/open.js'

/** An authorization server, and a server that takes its tokens. */
export interface Place {
  readonly issuer: AuthorizationServer
  readonly server: ProtectedServer
  /** The options of a gateway in front of it, on a data folder of its own. */
  readonly options: Partial<Options>
  /** Tokens that the server does not accept any more. */
  readonly withdrawn: Set<string>
}

interface PlaceOptions extends ServerOptions {
  readonly way?: Way
  /** Hears of each request that has a token. */
  readonly onRequest?: (token: string, body: string) => void
  /** More fields of the entry of the server. */
  readonly entry?: object
}

export async function openPlace (
  t: Test,
  { way = 'HTTP', onRequest, entry: more = {}, ...options }: PlaceOptions = {}
): Promise<Place> {
  const issuer = await startAuthorizationServer(t, options)
  const { entry } = await openFixture(t, way, newestLegacy)
  const withdrawn = new Set<string>()
  const check = async (token: string | undefined, body: string, resource: string): Promise<Refused | undefined> => {
    if (token !== undefined) onRequest?.(token, body)
    const metadata = `resource_metadata="${new URL(resource).origin}/.well-known/oauth-protected-resource"`
    const scopes = token === undefined || withdrawn.has(token) ? undefined : await issuer.scopesOf(token, resource)
    if (scopes === undefined) return { status: 401, challenge: `${metadata}, scope="mcp"` }
    return body.includes('"needs-more"') && !scopes.includes('files:write')
      ? { status: 403, challenge: `error="insufficient_scope", scope="files:write", ${metadata}` }
      : undefined
  }
  const server = await protect(t, String(entry['url']), check, resource => ({
    resource,
    authorization_servers: [issuer.url],
    scopes_supported: ['mcp']
  }))
  const data = await dataFolder(t)
  const mcpServers = { linear: { type: entry['type'] as string, url: server.url, ...more } }
  return { issuer, server, withdrawn, options: { plugins: [], tools: false, data, mcpServers } }
}

/** A gateway that logs into a list. */
export async function loggedGateway (
  t: Test,
  options: Partial<Options>
): Promise<{ app: FastifyInstance, log: string[] }> {
  const log: string[] = []
  const app = await gateway(t, options, {
    loggerInstance: pino({ level: 'trace' }, { write: (line: string) => { log.push(line) } })
  })
  return { app, log }
}

/** The address of a gateway that only tests come back to. */
export const REDIRECT_URI = 'http://127.0.0.1:1/sign-in/callback'

/** A browser on the pages of a gateway. */
export class PageVisitor {
  readonly #app: FastifyInstance
  readonly #cookies = new Map<string, string>()

  constructor (app: FastifyInstance) {
    this.#app = app
  }

  async get (url: string): Promise<LightMyRequestResponse> {
    const { pathname, search } = new URL(url)
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return await this.#app.inject({ url: pathname + search, headers: { host: 'localhost', cookie } })
  }

  async send (
    link: string,
    key = '',
    headers: Record<string, string> = { origin: 'http://localhost' }
  ): Promise<LightMyRequestResponse> {
    const reply = await this.#app.inject({
      method: 'POST',
      url: '/sign-in',
      headers: { host: 'localhost', 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: new URLSearchParams({ link: new URL(link).searchParams.get('link') ?? '', key }).toString()
    })
    for (const { name, value } of reply.cookies) this.#cookies.set(name, value)
    return reply
  }

  /** Signs in at the authorization server, as a page leads there; the address that the browser is sent back to. */
  async follow (reply: LightMyRequestResponse): Promise<string> {
    const [, url = ''] = /^0; url=(.*)$/.exec(String(reply.headers.refresh)) ?? []
    return (await browse(url, false)).url
  }

  async signIn (link: string, key?: string): Promise<LightMyRequestResponse> {
    return await this.get(await this.follow(await this.send(link, key)))
  }
}

/** Signs in through the port of a gateway; `visit` goes to the address, with a browser if it is not given. */
export async function signIn (
  app: FastifyInstance,
  options: Partial<Options>,
  visit: (url: string) => Promise<unknown> = browse,
  pasted: AsyncIterable<string> = nothing(),
  signal: AbortSignal = new AbortController().signal,
  told: string[] = [],
  owner?: string
): Promise<{ issuer: string, scopes: readonly string[], isRenewable: boolean, told: string[] }> {
  const { entries } = await app.mcp.upstreams.read(flatten(resolveOptions(options)))
  const [entry] = entries
  if (entry === undefined) throw new Error('there is no server')
  const failed = new AbortController()
  const outcome = await app.mcp.upstreams.signIns.signIn(entry, {
    show: url => { visit(url).catch((error: unknown) => failed.abort(error)) },
    tell: sentence => { told.push(sentence) },
    pasted,
    signal: AbortSignal.any([signal, failed.signal])
  }, owner)
  return { ...outcome, told }
}

async function * nothing (): AsyncGenerator<string> {}
