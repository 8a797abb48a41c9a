import type { FastifyError } from 'fastify'
import fp from 'fastify-plugin'
import { encodeError } from '../protocol/jsonrpc.js'
import { McpError } from '../protocol/errors.js'

/** Gives HTTP refusals a JSON-RPC body. For a standalone gateway: in a host application the host's own error handler decides. */
export default fp(async fastify => {
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    const code = status >= 500 ? -32603 : -32600
    const message = status === 500 ? `Internal error (see the server's log for ${request.id})` : error.message
    void reply.code(status).header('content-type', 'application/json').send(encodeError(null, new McpError(code, message)))
  })

  fastify.setNotFoundHandler((request, reply) => {
    const message = `There is nothing at ${request.method} ${request.url.split('?')[0]}`
    void reply.code(404).header('content-type', 'application/json').send(encodeError(null, new McpError(-32600, message)))
  })
}, { name: 'http-errors' })
