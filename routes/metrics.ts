import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../protocol/http/http-errors.js'
import { grants, METRICS_SCOPE } from '../protocol/wire/identity.js'
import { addRoutes } from './paths.js'

export default fp(metricsRoutes, {
  name: 'patchbay-metrics-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-metrics', 'patchbay-auth']
})

export interface MetricsOptions {
  /** Makes the value of `WWW-Authenticate` for a caller that lacks a scope. */
  challenge: (scopes: readonly string[]) => string
}

const SCOPES = [METRICS_SCOPE]

/**
 * `/metrics`, for Prometheus: also while the server is overloaded or shuts down. Where callers authenticate, it needs
 * the scope `metrics`.
 */
async function metricsRoutes (app: FastifyInstance, { challenge }: MetricsOptions): Promise<void> {
  const { metrics } = app.mcp
  addRoutes(app, '/metrics', [{
    method: 'GET',
    exposeHeadRoute: true,
    config: { always: true },
    onRequest: async (request, reply) => {
      if (grants(request.identity, SCOPES)) return
      const error = httpErrors.scopeMissing(SCOPES, challenge(SCOPES))
      reply.headers(error.headers)
      throw error
    },
    handler: async ({ headers: { accept } }, reply) => {
      const { type, text } = await metrics.read(accept)
      return await reply.header('cache-control', 'no-store').type(type).send(text)
    }
  }])
}
