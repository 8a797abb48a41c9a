import type { FastifyInstance } from 'fastify'
import { refusal } from '../protocol/http/http-error.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

const RETRY_AFTER = 30

/** `POST /ticket`: a pass for one GET or WebSocket of the same caller, for browsers, which cannot give those a header. */
export default async function ticketRoutes (app: FastifyInstance): Promise<void> {
  for (const url of addresses(app, '/ticket')) {
    app.post(url, { config: { bodyless: true } }, async ({ identity }, reply) => {
      const issued = app.identities.issueTicket(identity)
      if (issued === undefined) throw refusal(429, 'there are too many unused tickets', RETRY_AFTER)
      reply.header('cache-control', 'no-store')
      return issued
    })
  }

  refuseOtherMethods(app, '/ticket', ['POST'])
}
