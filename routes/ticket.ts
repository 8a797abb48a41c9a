import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../protocol/http/http-errors.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

export default fp(ticketRoutes, { name: 'patchbay-ticket-routes', encapsulate: true, dependencies: ['patchbay-mcp', 'patchbay-auth'] })

/** `POST /ticket`: a pass for one GET or WebSocket of the same caller, for browsers, which cannot give those a header. */
async function ticketRoutes (app: FastifyInstance): Promise<void> {
  for (const url of addresses(app, '/ticket')) {
    app.post(url, { config: { bodyless: true } }, async ({ identity }, reply) => {
      const issued = app.mcp.identities.issueTicket(identity)
      if (issued === undefined) throw httpErrors.tooManyTickets()
      reply.header('cache-control', 'no-store')
      return issued
    })
  }

  refuseOtherMethods(app, '/ticket', ['POST'])
}
