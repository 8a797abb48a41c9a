import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from './other-methods.js'

/** `/health`: up, and ready to take calls. */
export default async function healthRoutes (app: FastifyInstance): Promise<void> {
  let closing = false
  const startedAt = Date.now()
  app.addHook('preClose', async () => { closing = true })

  app.get('/health', { exposeHeadRoute: false }, async (_request, reply) => {
    const { name, version } = app.mcp.server.info
    return await reply.code(closing ? 503 : 200).send({
      status: closing ? 'closing' : 'healthy',
      live: true,
      ready: !closing,
      name,
      version,
      uptime: Math.floor((Date.now() - startedAt) / 1000),
      sessions: app.sessions.size,
      peers: app.mcp.peers.size
    })
  })

  refuseOtherMethods(app, '/health', ['GET'])
}
