import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { addRoutes, isTaken } from './paths.js'

export default fp(probeRoutes, {
  name: 'patchbay-probe-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-origin', 'patchbay-http-rate-limit']
})

const PROBE = {
  method: 'GET',
  exposeHeadRoute: true,
  config: { always: true, public: true, anyHost: true, uncounted: true }
} as const

/**
 * `/livez` is answered as long as the process can answer, whatever else does not work; the status of `/readyz` says
 * whether new calls are accepted. A path that a plugin has a route for stays the plugin's.
 */
async function probeRoutes (app: FastifyInstance): Promise<void> {
  const { health } = app.mcp
  add('/livez', async reply => await reply.send('live'))
  add('/readyz', async reply => {
    const { ready } = health.now()
    if (!ready) reply.code(503).header('retry-after', '1')
    await reply.send(ready ? 'ready' : 'not ready')
  })

  function add (path: string, answer: (reply: FastifyReply) => Promise<void>): void {
    if (isTaken(app, 'GET', path)) return
    addRoutes(app, path, [
      { ...PROBE, handler: async (_request, reply) => await answer(reply.header('cache-control', 'no-store')) }
    ])
  }
}
