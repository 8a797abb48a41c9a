import { oneLine } from '../../../lib/one-line.js'
import { shortName } from '../../../protocol/wire/identity.js'

const MAX_NAME = 200

/** The caller, the method and the outcome of one call; never its arguments or its result. */
export interface AuditLine {
  principal: string | undefined
  /** How the client names itself. Not verified. */
  client: string | undefined
  transport: string
  revision: string
  method: string | undefined
  tool: string | undefined
  resource: string | undefined
  prompt: string | undefined
  /** The name of a tool or prompt that was asked for and does not exist. */
  unknown: string | undefined
  /** The alias of the upstream that the target belongs to. */
  upstream: string | undefined
  outcome: string
  code: number | undefined
  /** How long it took, in milliseconds. */
  ms: number
  /** The id that the client got with an internal error. */
  correlation: string | undefined
}

/**
 * The line for people, in one sentence: `tools/call calculate ok 2.0 ms (ada, http)`, `tools/call git__log at git ok
 * 8.1 ms (ada, http)`.
 */
// Written for every call: `toFixed`, and a check of the whole sentence, would make it three times as slow. The name of
// a local tool is plain.
export function callSentence ({
  principal,
  transport,
  method,
  tool,
  resource,
  prompt,
  unknown,
  upstream,
  outcome,
  code,
  ms
}: AuditLine): string {
  const what =
    tool === undefined || upstream !== undefined
      ? oneLine(nameOf(method, tool ?? resource ?? prompt ?? unknown), MAX_NAME) + placeOf(upstream)
      : method + ' ' + tool
  const how = outcome === 'error' ? ' error ' + code + ' ' : ' ' + outcome + ' '
  const tenths = Math.round(ms * 10)
  return (
    what +
    how +
    Math.floor(tenths / 10) +
    '.' +
    (tenths % 10) +
    ' ms (' +
    (principal === undefined ? '' : oneLine(shortName(principal), MAX_NAME) + ', ') +
    transport +
    ')'
  )
}

function nameOf (method = 'unknown method', target: string | undefined): string {
  return target === undefined ? method : method + ' ' + target
}

const placeOf = (upstream: string | undefined): string => upstream === undefined ? '' : ' at ' + upstream
