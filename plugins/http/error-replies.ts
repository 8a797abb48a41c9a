import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isHttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { errors, type McpError } from '../../protocol/wire/errors.js'
import { encodeError } from '../../protocol/wire/jsonrpc.js'
import { isModern, modern, oldest } from '../../protocol/revisions/table.js'

/**
 * Gives HTTP refusals a JSON-RPC body. For a standalone gateway: in a host application the host's own error handler
 * decides.
 */
export default fp(async (fastify, { consolePath }: { consolePath?: string | undefined }) => {
  fastify.setErrorHandler((error: FastifyError & { headers?: Record<string, string> }, request, reply) => {
    const status = error.statusCode ?? 500
    // 503 is a limit that was reached, not a fault.
    if (status >= 500 && status !== 503) request.log.error({ reqId: request.id, err: error }, 'request failed')
    const sent =
      status === 500
        ? errors.internal(request.id)
        : errors.http(status, error.message, isHttpError(error) ? error.code : undefined)
    refuse(request, reply, status, sent, error.headers)
  })

  fastify.setNotFoundHandler((request, reply) => {
    const { method, url, originalUrl } = request
    const { statusCode, message, code } =
      originalUrl === url
        ? httpErrors.notFound(method, String(url.split('?')[0]), consolePath)
        : httpErrors.undecodablePath()
    refuse(request, reply, statusCode, errors.http(statusCode, message, code))
  })
}, { name: 'patchbay-error-replies' })

function refuse (
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  error: McpError,
  headers: Record<string, string> = {}
): void {
  const { missingId } = isModern(request.headers['mcp-protocol-version']) ? modern : oldest
  void reply
    .code(status)
    .headers(headers)
    .header('content-type', 'application/json')
    .send(encodeError(missingId, error))
}
