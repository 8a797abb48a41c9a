import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from './other-methods.js'

/** `/health`: whoever is answered here can make calls. A server that is closing answers every URL, this one too, with 503. */
export default async function healthRoutes (app: FastifyInstance): Promise<void> {
  const startedAt = Date.now()

  app.get('/health', { exposeHeadRoute: false }, async () => {
    const { name, version } = app.mcp.server.info
    return {
      status: 'healthy',
      live: true,
      ready: true,
      name,
      version,
      uptime: Math.floor((Date.now() - startedAt) / 1000),
      sessions: app.sessions.size,
      peers: app.mcp.peers.size
    }
  })

  refuseOtherMethods(app, '/health', ['GET'])
}
