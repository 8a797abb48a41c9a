import { oneLine } from '../../../lib/one-line.js'
import { isMcpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { redactor } from '../../secrets.js'
import type { ServerEntry } from '../../server-entry.js'

/** How much of the text of an error is repeated. */
const MAX_TEXT = 500
/** How much of it is searched for secrets: none of them is cut in two by the end of what is repeated. */
const LOOKED_AT = 4_000

/** Why a list of a server could not be read, for operators: in our words, or with the code and the text of the server's own error, without its secrets. */
export function describeUnread (error: unknown, entry: ServerEntry, timeout: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `it did not answer within ${timeout} ms`
  if (!isMcpError(error)) return 'the gateway failed to read it'
  const text = oneLine(redactor(entry)(error.message.slice(0, LOOKED_AT)), MAX_TEXT)
  return isObject(error.data) && error.data.upstream === entry.alias ? text : `it answered with error ${error.code}: ${text}`
}
