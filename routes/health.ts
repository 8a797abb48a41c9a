import type { FastifyInstance } from 'fastify'
import { isNobody } from '../protocol/identity.js'
import { refuseOtherMethods } from './other-methods.js'

/** `/health`: whoever is answered here finds a process that lives; with 200, one that takes calls. Those who have to say who they are, and have not, are told no more. */
export default async function healthRoutes (app: FastifyInstance): Promise<void> {
  app.get('/health', { exposeHeadRoute: false, config: { always: true, public: true } }, async ({ identity }, reply) => {
    const { name, version } = app.mcp.server.info
    const { status, ready, reason, parts, uptime, sessions, peers } = app.health.now()
    reply.header('cache-control', 'no-store')
    if (!ready) reply.code(503).header('retry-after', '1')
    if (isNobody(identity)) return { status, live: true, ready }
    return { status, ...(reason === undefined ? {} : { reason, parts }), live: true, ready, name, version, uptime, sessions, peers }
  })

  refuseOtherMethods(app, '/health', ['GET'])
}
