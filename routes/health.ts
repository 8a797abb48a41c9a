import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ADMIN_SCOPE, grants, isUnauthenticated } from '../protocol/wire/identity.js'
import { addRoutes } from './paths.js'

export default fp(healthRoutes, {
  name: 'patchbay-health-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-origin']
})

/** True for a caller whose credential shows it one view: other servers are nothing to it. */
const isBound = ({ identity: { view } }: FastifyRequest, isOperator: boolean): boolean =>
  view !== undefined && !isOperator

/**
 * `/health`: any reply means that the process lives; 200, that it accepts calls. Under a Host that is not allowed, and
 * without a credential where one is required, the reply has three fields only, so that probes by IP address or by
 * service name need no configuration; with one that is bound to a view, likewise.
 */
async function healthRoutes (app: FastifyInstance): Promise<void> {
  const { mcp } = app
  addRoutes(app, '/health', [{
    method: 'GET',
    exposeHeadRoute: true,
    config: { always: true, public: true, anyHost: true },
    handler: async (request, reply) => {
      const { name, version } = mcp.dispatcher.server.info
      const { status, ready, reason, parts, uptime, sessions, peers, upstreams } = mcp.health.now()
      const node = mcp.store.kind === 'redis' ? { node: mcp.store.nodes.self } : {}
      reply.header('cache-control', 'no-store')
      if (!ready) reply.code(503).header('retry-after', '1')
      const isOperator = grants(request.identity, [ADMIN_SCOPE])
      if (mcp.isHostForeign(request) || isUnauthenticated(request.identity) || isBound(request, isOperator)) {
        return { status, live: true, ready }
      }
      const details = { ...upstreams && { upstreams: isOperator ? withDetails(upstreams) : upstreams } }
      const clashes = isOperator && 'curation' in mcp ? mcp.curation.clashes() : {}
      return {
        status,
        ...(reason === undefined ? {} : { reason, parts }),
        live: true,
        ready,
        name,
        version,
        ...node,
        uptime,
        sessions,
        peers,
        ...details,
        ...(Object.keys(clashes).length > 0 && { clashes })
      }
    }
  }])
  /**
   * Adds what operators alone see: sentences about the lists of servers, and what those that failed wrote last to
   * standard error.
   */
  function withDetails (upstreams: ReadonlyArray<{ alias: string, lastError?: string }>): object[] {
    const warnings = new Map(mcp.upstreams.status().map(({ alias, warnings }) => [alias, warnings]))
    return upstreams.map(upstream => {
      const leftOut = warnings.get(upstream.alias) ?? []
      const lastLines = upstream.lastError === undefined ? [] : mcp.upstreams.get(upstream.alias)?.lastLines() ?? []
      const pins = mcp.upstreams.pins.stateOf(upstream.alias)
      return {
        ...upstream,
        ...pins && { pins },
        ...(leftOut.length > 0 && { leftOut }),
        ...(lastLines.length > 0 && { lastLines })
      }
    })
  }
}
