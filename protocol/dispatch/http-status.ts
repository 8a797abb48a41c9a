import { codes, type McpError } from '../wire/errors.js'
import type { Revision } from '../revisions/revision.js'

/** What HTTP says of an error: most are answers like any other. */
export function statusOf (error: McpError, revision: Revision | undefined): number {
  if (error.status !== undefined) return error.status
  if (error.code === codes.parse || error.code === codes.invalidRequest) return 400
  return error.code === codes.methodNotFound ? revision?.unknownMethodStatus ?? 200 : 200
}
