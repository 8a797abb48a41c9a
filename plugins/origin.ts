import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { refusal } from '../protocol/refusal.js'

export interface OriginOptions { allowedHosts: string[], allowedOrigins: string[], maxHeaders: number }

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Keeps web pages out: a page may make a browser send requests here, but it cannot hide the Host it used nor the Origin it has.
 * Runs before everything else, on every route and on the WebSocket upgrade. Loopback names are always allowed.
 */
export default fp(async (fastify, { allowedHosts, allowedOrigins, maxHeaders }: OriginOptions) => {
  const hosts = new Set(allowedHosts.map(host => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map(origin => origin.toLowerCase()))

  fastify.addHook('onRequest', async request => {
    const { raw } = request
    if (raw.rawHeaders.length > 2 * maxHeaders) throw refusal(431, `a request has at most ${maxHeaders} headers`)
    if (raw.url?.startsWith('/') !== true) throw refusal(400, 'the request target must be a path')
    if (raw.httpVersionMajor === 1 && count(raw.rawHeaders, 'host') !== 1) throw refusal(400, 'there must be exactly one Host header')
    if (!hostAllowed(request)) throw refusal(403, `Host ${JSON.stringify(raw.headers.host)} is not allowed; add it to allowedHosts`)
    if (!originAllowed(request)) throw refusal(403, `Origin ${JSON.stringify(raw.headers.origin)} is not allowed; add it to allowedOrigins`)
  })

  function hostAllowed ({ raw: { headers } }: FastifyRequest): boolean {
    // HTTP/2 has the authority in place of the header.
    const lower = String(headers.host ?? headers[':authority'] ?? '').toLowerCase()
    const name = hostname(`http://${lower}`)
    return name !== undefined && (LOOPBACK.has(name) || hosts.has(name) || hosts.has(lower))
  }

  function originAllowed ({ raw: { headers: { origin }, rawHeaders } }: FastifyRequest): boolean {
    if (origin === undefined) return true
    if (count(rawHeaders, 'origin') > 1) return false
    const name = hostname(origin)
    return origins.has(origin.toLowerCase()) || (name !== undefined && LOOPBACK.has(name))
  }
}, { name: 'patchbay-origin' })

function hostname (url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, pathname, username, search, hash, protocol } = new URL(url)
  const bare = pathname === '/' && username === '' && search === '' && hash === '' && /^https?:$/.test(protocol)
  return bare && hostname !== '' ? hostname : undefined
}

function count (rawHeaders: string[], name: string): number {
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (rawHeaders[index]?.toLowerCase() === name) found++
  return found
}
