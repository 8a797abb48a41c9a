import type { FastifyInstance } from 'fastify'
import { httpErrors } from '../protocol/http/http-errors.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

/** `POST /ticket`: a pass for one GET or WebSocket of the same caller, for browsers, which cannot give those a header. */
export default async function ticketRoutes (app: FastifyInstance): Promise<void> {
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
