import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { isLoopback } from '../../lib/network.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** True when the Host of the request is not allowed. Such a request reaches only routes with `config.anyHost`. */
    isHostForeign: (request: FastifyRequest) => boolean
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that replies under any Host, with less under one that is not allowed. */
    anyHost?: boolean
  }
}

export interface OriginOptions { allowedHosts: string[], allowedOrigins: string[], maxHeaders: number }

type RawRequest = FastifyRequest['raw']

const MAX_CACHED = 1_000
const MAX_CACHED_LENGTH = 256

/**
 * Refuses requests of foreign web pages: a page can make a browser send requests here, but it cannot change their Host
 * or Origin header. Runs before all other checks, on every route and on the WebSocket upgrade. Loopback names are
 * always allowed, and pages of this server itself.
 */
export default fp(async (fastify, { allowedHosts, allowedOrigins, maxHeaders }: OriginOptions) => {
  const hosts = new Set(allowedHosts.map(normalise))
  const origins = new Set(allowedOrigins.map(normalise))
  const foreign = new WeakSet<FastifyRequest>()
  fastify.mcp.provide('isHostForeign', request => foreign.has(request))

  const isHost = cacheAllowed(host => {
    const name = hostname(`http://${host}`)
    return name !== undefined && (isLoopback(name) || hosts.has(normalise(name)) || hosts.has(normalise(host)))
  })
  const isOrigin = cacheAllowed(origin => {
    const name = hostname(origin)
    return origins.has(normalise(origin)) || (name !== undefined && isLoopback(name))
  })

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { raw, routeOptions: { config } } = request
    done(
      checkForm(raw) ??
        checkHost(request, config?.anyHost === true && raw.headers.upgrade === undefined) ??
        checkOrigin(request)
    )
  })

  function checkForm ({ rawHeaders, url, httpVersionMajor }: RawRequest): HttpError | undefined {
    if (rawHeaders.length > 2 * maxHeaders) return httpErrors.tooManyHeaders(maxHeaders)
    if (url?.startsWith('/') !== true) return httpErrors.targetNotPath()
    if (httpVersionMajor === 1 && count(rawHeaders, 'host') !== 1) return httpErrors.hostNotSingle()
    return undefined
  }

  function checkHost (request: FastifyRequest, anyHost: boolean): HttpError | undefined {
    const { headers } = request.raw
    // HTTP/2 has the authority in place of the header.
    if (isHost(String(headers.host ?? headers[':authority'] ?? ''))) return undefined
    if (!anyHost) return httpErrors.hostNotAllowed(headers.host)
    foreign.add(request)
    return undefined
  }

  function checkOrigin (request: FastifyRequest): HttpError | undefined {
    const { rawHeaders, headers: { origin } } = request.raw
    if (origin === undefined) return undefined
    const isAllowed =
      count(rawHeaders, 'origin') === 1 && (isOrigin(origin) || (!foreign.has(request) && isOwnOrigin(origin, request)))
    return isAllowed ? undefined : httpErrors.originNotAllowed(origin)
  }
}, { name: 'patchbay-origin', dependencies: ['patchbay-mcp'] })

/** A host name in lower case, without the dot that ends a fully qualified name, before a port too. */
const normalise = (name: string): string => name.toLowerCase().replace(/\.(?=(:\d+)?$)/, '')

/** Caches the names that are allowed: nearly all requests have the same few. Case does not matter. */
// Parsing a name takes 8 µs, about 7 % of a small HTTP call; a look into the set takes 0.05 µs.
function cacheAllowed (isAllowed: (name: string) => boolean): (name: string) => boolean {
  const cached = new Set<string>()
  return name => {
    if (cached.has(name)) return true
    if (!isAllowed(name.toLowerCase())) return false
    if (cached.size < MAX_CACHED && name.length < MAX_CACHED_LENGTH) cached.add(name)
    return true
  }
}

/**
 * True for a page that was loaded from the host and port that the request goes to. TLS may end at a proxy, so a page
 * over https counts where the request came over http; the other way round it does not, because others on the network
 * can change such a page.
 */
function isOwnOrigin (origin: string, { protocol, raw: { headers } }: FastifyRequest): boolean {
  const [scheme] = /^https?:/.exec(origin) ?? []
  if (scheme === undefined || hostname(origin) === undefined || (protocol === 'https' && scheme !== 'https:')) {
    return false
  }
  const own = `${scheme}//${String(headers.host ?? headers[':authority'] ?? '')}`
  return hostname(own) !== undefined && new URL(own).host === new URL(origin).host
}

function hostname (url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname, username, search, hash, protocol } = new URL(url)
  const bare = pathname === '/' && username === '' && search === '' && hash === '' && /^https?:$/.test(protocol)
  return bare && hostname !== '' ? hostname : undefined
}

function count (rawHeaders: string[], name: string): number {
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index] as string
    if (header.length === name.length && header.toLowerCase() === name) found++
  }
  return found
}
