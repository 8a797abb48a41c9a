import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { isLoopback } from '../../lib/network/loopback.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** True when the Host of the request is not allowed. Only routes with `config.anyHost` are reached by such a request. */
    isHostForeign: (request: FastifyRequest) => boolean
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that answers under any Host, and tells less under one that is not allowed. */
    anyHost?: boolean
  }
}

export interface OriginOptions { allowedHosts: string[], allowedOrigins: string[], maxHeaders: number }

type RawRequest = FastifyRequest['raw']

const MAX_REMEMBERED = 1_000
const LONG = 256

/**
 * Keeps web pages out: a page may make a browser send requests here, but it cannot hide the Host it used nor the Origin it has.
 * Runs before everything else, on every route and on the WebSocket upgrade. Loopback names are always allowed.
 */
export default fp(async (fastify, { allowedHosts, allowedOrigins, maxHeaders }: OriginOptions) => {
  const hosts = new Set(allowedHosts.map(normalised))
  const origins = new Set(allowedOrigins.map(normalised))
  const foreign = new WeakSet<FastifyRequest>()
  fastify.mcp.provide('isHostForeign', request => foreign.has(request))

  const isHost = remembered(host => {
    const name = hostname(`http://${host}`)
    return name !== undefined && (isLoopback(name) || hosts.has(normalised(name)) || hosts.has(normalised(host)))
  })
  const isOrigin = remembered(origin => {
    const name = hostname(origin)
    return origins.has(normalised(origin)) || (name !== undefined && isLoopback(name))
  })

  fastify.addHook('onRequest', (request, _reply, done) => {
    const { raw, routeOptions: { config } } = request
    done(malformation(raw) ?? foreignHost(request, config?.anyHost === true && raw.headers.upgrade === undefined) ?? foreignOrigin(raw))
  })

  function malformation ({ rawHeaders, url, httpVersionMajor }: RawRequest): HttpError | undefined {
    if (rawHeaders.length > 2 * maxHeaders) return httpErrors.tooManyHeaders(maxHeaders)
    if (url?.startsWith('/') !== true) return httpErrors.targetNotPath()
    if (httpVersionMajor === 1 && count(rawHeaders, 'host') !== 1) return httpErrors.hostNotSingle()
    return undefined
  }

  function foreignHost (request: FastifyRequest, anyHost: boolean): HttpError | undefined {
    const { headers } = request.raw
    // HTTP/2 has the authority in place of the header.
    if (isHost(String(headers.host ?? headers[':authority'] ?? ''))) return undefined
    if (!anyHost) return httpErrors.hostNotAllowed(headers.host)
    foreign.add(request)
    return undefined
  }

  function foreignOrigin ({ rawHeaders, headers }: RawRequest): HttpError | undefined {
    if (headers.origin !== undefined && (count(rawHeaders, 'origin') > 1 || !isOrigin(headers.origin))) {
      return httpErrors.originNotAllowed(headers.origin)
    }
    return undefined
  }
}, { name: 'patchbay-origin', dependencies: ['patchbay-mcp'] })

/** A name without the dot that ends a full name, with or without a port, in lower case. */
const normalised = (name: string): string => name.toLowerCase().replace(/\.(?=(:\d+)?$)/, '')

/** The same few are asked about again and again; case does not matter. */
function remembered (judge: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>()
  return name => {
    const before = known.get(name)
    if (before !== undefined) return before
    const verdict = judge(name.toLowerCase())
    // Whoever makes names up is not remembered.
    if (verdict && known.size < MAX_REMEMBERED && name.length < LONG) known.set(name, verdict)
    return verdict
  }
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
