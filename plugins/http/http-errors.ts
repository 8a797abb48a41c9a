import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { McpError } from '../../protocol/wire/errors.js'
import { encodeError } from '../../protocol/wire/jsonrpc.js'
import { isModern, modern, oldest } from '../../protocol/revisions/table.js'

/** Gives HTTP refusals a JSON-RPC body. For a standalone gateway: in a host application the host's own error handler decides. */
export default fp(async fastify => {
  fastify.setErrorHandler((error: FastifyError & { headers?: Record<string, string> }, request, reply) => {
    const status = error.statusCode ?? 500
    // That there is no room now, or no time, is no fault.
    if (status >= 500 && status !== 503) request.log.error({ reqId: request.id, err: error }, 'request failed')
    const message = status === 500 ? `Internal error (see the server's log for ${request.id})` : error.message
    const notTheirs = status >= 500 || status === 429
    reply.headers(error.headers ?? {})
    refuse(request, reply, status, new McpError(notTheirs ? -32603 : -32600, message))
  })

  fastify.setNotFoundHandler((request, reply) => {
    if (request.originalUrl !== request.url) return refuse(request, reply, 400, new McpError(-32600, 'The path cannot be decoded: % is not followed by what it should be'))
    refuse(request, reply, 404, new McpError(-32600, `There is nothing at ${request.method} ${request.url.split('?')[0]}; MCP clients go to /mcp, and /health tells whether all is well`))
  })
}, { name: 'patchbay-http-errors' })

function refuse ({ headers }: FastifyRequest, reply: FastifyReply, status: number, error: McpError): void {
  const { missingId } = isModern(headers['mcp-protocol-version']) ? modern : oldest
  void reply.code(status).header('content-type', 'application/json').send(encodeError(missingId, error))
}
