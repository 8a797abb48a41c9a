import { codes, type McpError } from '../wire/errors.js'

/** The HTTP status of a JSON-RPC error. Most are responses like any other, with 200. */
export function statusOf (error: McpError, revision: { readonly unknownMethodStatus: number } | undefined): number {
  if (error.status !== undefined) return error.status
  if (error.code === codes.parse || error.code === codes.invalidRequest) return 400
  return error.code === codes.methodNotFound ? revision?.unknownMethodStatus ?? 200 : 200
}
