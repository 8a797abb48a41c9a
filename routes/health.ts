import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { isUnauthenticated } from '../protocol/wire/identity.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

export default fp(healthRoutes, { name: 'patchbay-health-routes', encapsulate: true, dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-origin'] })

/**
 * `/health`: an answer means that the process lives; 200, that it takes calls. Under a Host that is not allowed, and without a credential
 * where one is required, the answer is these three fields and no more, so that probes by IP address or by service name need no configuration.
 */
async function healthRoutes (app: FastifyInstance): Promise<void> {
  for (const url of addresses(app, '/health')) {
    app.get(url, { exposeHeadRoute: true, config: { always: true, public: true, anyHost: true } }, async (request, reply) => {
      const { name, version } = app.mcp.dispatcher.server.info
      const { status, ready, reason, parts, uptime, sessions, peers } = app.mcp.health.now()
      reply.header('cache-control', 'no-store')
      if (!ready) reply.code(503).header('retry-after', '1')
      if (app.mcp.isHostForeign(request) || isUnauthenticated(request.identity)) return { status, live: true, ready }
      return { status, ...(reason === undefined ? {} : { reason, parts }), live: true, ready, name, version, uptime, sessions, peers }
    })
  }

  refuseOtherMethods(app, '/health', ['GET', 'HEAD'])
}
