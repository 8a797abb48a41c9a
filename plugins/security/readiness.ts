import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../../protocol/http/http-errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered even when nothing else is. */
    always?: boolean
  }
}

/**
 * Refuses what comes while the server is shutting down or has too much to do, on every route and on the WebSocket upgrade, before it is
 * read, and tells when to come back. Clients that are known go on as long as possible: they may end calls and sessions.
 */
export default fp(async fastify => {
  let draining = false
  fastify.addHook('onReady', async () => { fastify.mcp.dispatcher.onDrain(() => { draining = true }) })

  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.always === true) return done()
    if (draining) {
      reply.header('connection', 'close')
      return done(httpErrors.draining())
    }
    const { level, why } = fastify.mcp.pressure
    const tooMuch = level !== 'none' && (isUpgrade(request) || (level === 'heavy' && !isKnown(request)))
    done(tooMuch ? httpErrors.overloaded(why) : undefined)
  })
}, { name: 'patchbay-readiness', dependencies: ['patchbay-mcp', 'patchbay-pressure'] })

const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined

function isKnown ({ headers, query }: FastifyRequest): boolean {
  return headers['mcp-session-id'] !== undefined || headers['x-session-id'] !== undefined || Object.hasOwn(Object(query) as object, 'sessionId')
}
