import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../protocol/http/http-errors.js'
import { takeBody } from '../transports/http/posts.js'
import { addRoutes } from './paths.js'

export default fp(approvalRoutes, {
  name: 'patchbay-approval-routes',
  encapsulate: true,
  dependencies: ['patchbay-mcp', 'patchbay-approvals', 'patchbay-auth', 'patchbay-json-body', 'patchbay-http-rate-limit']
})

/** The longest answer, in bytes. */
const MAX_ANSWER = 4_096
const REFUSALS = {
  unsigned: httpErrors.signatureRefused,
  wrong: httpErrors.wrongAnswer,
  'not waiting': httpErrors.notWaiting
}

/**
 * `POST /approvals/answer`, where the webhook of the operator answers calls that wait. Its signature is its credential.
 */
async function approvalRoutes (app: FastifyInstance): Promise<void> {
  const { takeSigned } = app.mcp.approvals
  if (takeSigned === undefined) return
  addRoutes(app, '/approvals/answer', [{
    method: 'POST',
    config: { public: true },
    handler: async (request, reply) => {
      const body = takeBody(request)
      if (body.length > MAX_ANSWER) throw httpErrors.messageTooLarge(MAX_ANSWER)
      const taken = await takeSigned(request.headers, body)
      if (taken.is !== 'taken') throw REFUSALS[taken.is](taken.why)
      return await reply.code(204).send()
    }
  }])
}
