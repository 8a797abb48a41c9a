import type { Call } from '../../protocol/dispatch/call.js'
import { codes, isMcpError, relayError, type McpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'

/**
 * An upstream's error as the client's revision can say it: the same code, message and data, but for the code of an
 * unknown resource.
 */
export function toClientError (error: unknown, { method, revision }: Pick<Call, 'method' | 'revision'>): unknown {
  if (!isMcpError(error)) return error
  const code =
    method === 'resources/read' && isNotFound(error)
      ? revision.unknownResource
      : knownCode(error.code, revision.stateless)
  // A status of its own, so that no code of an upstream is taken for a statement about the gateway, such as 404 for an
  // unknown method.
  const status = code === codes.missingCapability && revision.stateless ? 400 : error.status ?? 200
  return relayError(error, code, status)
}

function isNotFound ({ code, data, message }: McpError): boolean {
  if (code === codes.resourceNotFound) return true
  return (
    code === codes.invalidParams && ((isObject(data) && typeof data.uri === 'string') || /not found/i.test(message))
  )
}

/** Revisions without a handshake have given up this code. */
function knownCode (code: number, stateless: boolean): number {
  return stateless && code === codes.resourceNotFound ? codes.invalidParams : code
}
