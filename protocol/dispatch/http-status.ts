import type { McpError } from '../wire/errors.js'
import type { Revision } from '../revisions/revision.js'

/** What HTTP says of an error: most are answers like any other. */
export function statusOf (error: McpError, revision: Revision | undefined): number {
  if (error.status !== undefined) return error.status
  if (error.code === -32700 || error.code === -32600) return 400
  return error.code === -32601 ? revision?.unknownMethodStatus ?? 200 : 200
}
