import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../protocol/http/http-errors.js'
import { addRoutes } from './paths.js'

export default fp(ticketRoutes, {
  name: 'patchbay-ticket-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-auth']
})

/**
 * `POST /ticket`: a credential for one GET or WebSocket of the same caller, for browsers, which cannot set a header
 * there.
 */
async function ticketRoutes (app: FastifyInstance): Promise<void> {
  const { identities } = app.mcp
  addRoutes(app, '/ticket', [{
    method: 'POST',
    config: { bodyless: true },
    handler: async ({ identity }, reply) => {
      const issued = await identities.issueTicket(identity)
      if (issued === undefined) throw httpErrors.tooManyTickets()
      reply.header('cache-control', 'no-store')
      return issued
    }
  }])
}
