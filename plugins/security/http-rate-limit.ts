import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Identity } from '../../protocol/wire/identity.js'
import { type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { networkOf } from '../../system/rate/network.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * True for a route whose requests are not counted, so that they use neither the rate of a caller nor the store of
     * the counts.
     */
    uncounted?: boolean
  }
}

const MAX_ADDRESSES = 1_000

/** Counts every HTTP request and WebSocket upgrade against the rate of its caller, before the body is read. */
export default fp(async fastify => {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.uncounted === true) return done()
    if (request.identity.principal === undefined) request.identity = withAddress(request.identity, request.ip)
    const wait = fastify.mcp.rateLimiter.take(request.identity)
    if (typeof wait === 'number') done(checkWait(reply, wait))
    else wait.then(ms => done(checkWait(reply, ms)), done)
  })
}, { name: 'patchbay-http-rate-limit', dependencies: ['patchbay-auth', 'patchbay-rate-limiter'] })

/** Anonymous identities with their address, cached because the next request is most often of the same client. */
const identities = new WeakMap<Identity, Map<string, Identity>>()

function withAddress (identity: Identity, ip: string): Identity {
  const located = identities.get(identity) ?? new Map<string, Identity>()
  const known = located.get(ip)
  if (known !== undefined) return known
  const made = { ...identity, address: networkOf(ip) }
  if (located.size >= MAX_ADDRESSES) located.clear()
  identities.set(identity, located.set(ip, made))
  return made
}

/** The error for a caller who has to wait; undefined when it need not. */
function checkWait (reply: FastifyReply, ms: number): HttpError | undefined {
  if (ms === 0) return undefined
  const seconds = Math.ceil(ms / 1000)
  reply.header('retry-after', seconds)
  return httpErrors.tooManyCalls(seconds)
}
