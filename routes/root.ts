import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../protocol/http/http-errors.js'
import { hidden, isTaken } from './paths.js'

export default fp(rootRoute, {
  name: 'patchbay-root-route',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-origin', 'patchbay-http-rate-limit']
})

/**
 * Leads a browser from `/` to the console, by a path relative to the root: a proxy may serve both below another one.
 * Other clients get the 404 of every unknown path. A `/` of a plugin stays the plugin's.
 */
async function rootRoute (app: FastifyInstance, { consolePath }: { consolePath: string }): Promise<void> {
  if (isTaken(app, 'GET', '/')) return
  app.route({
    method: 'GET',
    url: '/',
    schema: hidden(),
    exposeHeadRoute: true,
    config: { always: true, public: true, uncounted: true, mcp: false },
    handler: async ({ method, headers: { accept = '' } }, reply) => {
      if (!accept.includes('text/html')) throw httpErrors.notFound(method, '/', consolePath)
      await reply
        .code(302)
        .headers({ location: `${consolePath.slice(1)}/`, 'cache-control': 'no-store', vary: 'Accept' })
        .send()
    }
  })
}
