import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from './other-methods.js'

/** `/health`: whoever is answered here can make calls. A server that is closing answers every URL, this one too, with 503. */
export default async function healthRoutes (app: FastifyInstance): Promise<void> {
  app.get('/health', { exposeHeadRoute: false }, async () => {
    const { name, version } = app.mcp.server.info
    const { status, reason, uptime, sessions, peers } = app.health.now()
    return { status, ...(reason === undefined ? {} : { reason }), live: true, ready: true, name, version, uptime, sessions, peers }
  })

  refuseOtherMethods(app, '/health', ['GET'])
}
