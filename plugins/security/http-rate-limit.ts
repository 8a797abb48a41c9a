import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Identity } from '../../protocol/wire/identity.js'
import { type HttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { networkOf } from '../../system/rate/network.js'

const MAX_SEEN = 1_000

/** Counts every HTTP request and WebSocket upgrade against the rate of its caller, once it is known who that is and before anything is read. */
export default fp(async fastify => {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.identity.principal === undefined) request.identity = from(request.identity, request.ip)
    const wait = fastify.mcp.rateLimiter.take(request.identity)
    if (typeof wait === 'number') done(refused(reply, wait))
    else void wait.then(ms => done(refused(reply, ms)))
  })
}, { name: 'patchbay-http-rate-limit', dependencies: ['patchbay-auth', 'patchbay-rate-limiter'] })

/** Somebody without a name, told from others by where they are. The same few come again and again. */
const seen = new WeakMap<Identity, Map<string, Identity>>()

function from (identity: Identity, ip: string): Identity {
  const near = seen.get(identity) ?? new Map<string, Identity>()
  const before = near.get(ip)
  if (before !== undefined) return before
  const located = { ...identity, address: networkOf(ip) }
  if (near.size >= MAX_SEEN) near.clear()
  seen.set(identity, near.set(ip, located))
  return located
}

function refused (reply: FastifyReply, ms: number): HttpError | undefined {
  if (ms === 0) return undefined
  const seconds = Math.ceil(ms / 1000)
  reply.header('retry-after', seconds)
  return httpErrors.tooManyCalls(seconds)
}
