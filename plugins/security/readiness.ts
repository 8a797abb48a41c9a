import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../../protocol/http/http-errors.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that is served also while the server is shutting down or overloaded. */
    always?: boolean
  }
}

/**
 * Refuses requests while the server is shutting down or overloaded, on every route and on the WebSocket upgrade, before the body is read.
 * Requests that name a session are served longest, because they may end calls and sessions.
 */
export default fp(async fastify => {
  let draining = false
  fastify.addHook('onReady', async () => { fastify.mcp.dispatcher.lifecycle.onDrain(() => { draining = true }) })

  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.always === true) return done()
    if (draining) {
      reply.header('connection', 'close')
      return done(httpErrors.draining())
    }
    const { level, why } = fastify.mcp.pressure
    const isOverloaded = level !== 'none' && (isUpgrade(request) || (level === 'heavy' && !namesSession(request)))
    done(isOverloaded ? httpErrors.overloaded(why) : undefined)
  })
}, { name: 'patchbay-readiness', dependencies: ['patchbay-mcp', 'patchbay-pressure'] })

const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined

function namesSession ({ headers, query }: FastifyRequest): boolean {
  return headers['mcp-session-id'] !== undefined || headers['x-session-id'] !== undefined || Object.hasOwn(Object(query) as object, 'sessionId')
}
