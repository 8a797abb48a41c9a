import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { isHttpError } from '../../protocol/http/http-error.js'
import { httpErrors } from '../../protocol/http/http-errors.js'
import { errors } from '../../protocol/wire/errors.js'
import { encodeError } from '../../protocol/wire/jsonrpc.js'
import { isModern, modern, oldest } from '../../protocol/revisions/table.js'

/** Gives HTTP refusals a JSON-RPC body. For a standalone gateway: in a host application the host's own error handler decides. */
export default fp(async fastify => {
  fastify.setErrorHandler((error: FastifyError & { headers?: Record<string, string> }, request, reply) => {
    const status = error.statusCode ?? 500
    // 503 is a limit that was reached, not a fault.
    if (status >= 500 && status !== 503) request.log.error({ reqId: request.id, err: error }, 'request failed')
    const message = status === 500 ? errors.internal(request.id).message : error.message
    refuse(request, reply, { statusCode: status, message, headers: error.headers, code: isHttpError(error) ? error.code : undefined })
  })

  fastify.setNotFoundHandler((request, reply) => {
    const { method, url, originalUrl } = request
    refuse(request, reply, originalUrl === url ? httpErrors.notFound(method, String(url.split('?')[0])) : httpErrors.undecodablePath())
  })
}, { name: 'patchbay-error-replies' })

interface Refusal { statusCode: number, message: string, headers?: Record<string, string> | undefined, code?: string | undefined }

function refuse ({ headers: { 'mcp-protocol-version': version } }: FastifyRequest, reply: FastifyReply, refusal: Refusal): void {
  const { statusCode, message, headers = {}, code } = refusal
  const { missingId } = isModern(version) ? modern : oldest
  const body = encodeError(missingId, errors.http(statusCode, message, code))
  void reply.code(statusCode).headers(headers).header('content-type', 'application/json').send(body)
}
