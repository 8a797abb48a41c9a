import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { refusal, type Refusal } from '../protocol/refusal.js'
import { networkOf } from '../system/rate/network.js'

/** Counts every HTTP request and WebSocket upgrade against the rate of its caller, once it is known who that is and before anything is read. */
export default fp(async fastify => {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.identity.principal === undefined) request.identity = { ...request.identity, address: networkOf(request.ip) }
    const wait = fastify.rates.take(request.identity)
    if (typeof wait === 'number') done(refused(reply, wait))
    else void wait.then(ms => done(refused(reply, ms)))
  })
}, { name: 'patchbay-rate-limit', dependencies: ['patchbay-auth'] })

function refused (reply: FastifyReply, ms: number): Refusal | undefined {
  if (ms === 0) return undefined
  const seconds = Math.ceil(ms / 1000)
  reply.header('retry-after', seconds)
  return refusal(429, `Too many calls by one caller (option rate); try again in ${seconds} s`)
}
