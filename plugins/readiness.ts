import fp from 'fastify-plugin'
import { refusal } from '../protocol/refusal.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered even when nothing else is. */
    always?: boolean
  }
}

/** Refuses what comes while the server is shutting down, on every route and on the WebSocket upgrade, and tells when to come back. */
export default fp(async fastify => {
  let draining = false
  fastify.addHook('onReady', async () => fastify.mcp.onDrain(() => { draining = true }))

  fastify.addHook('onRequest', async (request, reply) => {
    if (!draining || request.routeOptions.config.always === true) return
    reply.header('connection', 'close')
    throw refusal(503, 'the server is shutting down; try again in a moment')
  })
}, { name: 'readiness' })
