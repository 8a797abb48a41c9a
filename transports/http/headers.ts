import type { FastifyRequest } from 'fastify'
import { httpErrors } from '../../protocol/http/http-errors.js'

/** The session id a request names, by either header. Throws when the two differ. */
export function sessionId ({ headers }: FastifyRequest): string | undefined {
  const { 'mcp-session-id': own, 'x-session-id': alias } = headers
  if (own !== undefined && alias !== undefined && own !== alias) throw httpErrors.sessionIdsDiffer()
  const id = own ?? alias
  return id === undefined ? undefined : String(id)
}

/** True when a request has a session id, in either header. */
export const namesSession = ({ headers }: FastifyRequest): boolean =>
  headers['mcp-session-id'] !== undefined || headers['x-session-id'] !== undefined

/** The MCP-Protocol-Version header. */
export function versionHeader ({ headers: { 'mcp-protocol-version': version } }: FastifyRequest): string | undefined {
  return version === undefined ? undefined : String(version)
}

/** True when the Accept header allows the type; without one everything is allowed. */
export function accepts (request: FastifyRequest, type: string): boolean {
  const allowed = acceptedRanges(request)
  return [type, `${type.split('/')[0]}/*`, '*/*'].some(range => allowed.includes(range))
}

/** True when the Accept header has the type itself, and not only a range that it is in. */
export const prefers = (request: FastifyRequest, type: string): boolean =>
  request.headers.accept?.includes(type) === true && acceptedRanges(request).includes(type)

function acceptedRanges ({ headers: { accept = '*/*' } }: FastifyRequest): Array<string | undefined> {
  const ranges = accept.toLowerCase().split(',').filter(range => !/;\s*q=0(\.0*)?\s*(;|$)/.test(range))
  return ranges.map(range => range.split(';')[0]?.trim())
}

/** The header `Accept` of nearly all clients of Streamable HTTP. */
const USUAL_ACCEPT = 'application/json, text/event-stream'

/** True when the Accept header allows both kinds of reply, as Streamable HTTP demands. */
export const acceptsBoth = (request: FastifyRequest): boolean =>
  request.headers.accept === USUAL_ACCEPT ||
  (accepts(request, 'application/json') && accepts(request, 'text/event-stream'))
