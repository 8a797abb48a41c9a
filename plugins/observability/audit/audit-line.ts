import { oneLine } from '../../../lib/one-line.js'
import type { Approval } from '../../../protocol/dispatch/target.js'
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
  /** The name of the rule that decided, or its place in option `rules`. */
  rule: string | undefined
  /** The answer of a person: about this call, or the one that this call gave. */
  approval: Approval | undefined
  /** The answers of operators to questions that the call asked. */
  answers: readonly Approval[] | undefined
  code: number | undefined
  /** How long it took, in milliseconds. */
  ms: number
  /** The id that the client got with an internal error. */
  correlation: string | undefined
  /** The task that the call created, or whose work it is. */
  task: string | undefined
  /** True for the work of a task: one round of it, from its start or its answers to its end or its next questions. */
  isTaskRun: true | undefined
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
  rule,
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
    ' ms' +
    (rule === undefined || outcome !== 'denied' ? '' : ' by ' + rule) +
    ' (' +
    (principal === undefined ? '' : oneLine(shortName(principal), MAX_NAME) + ', ') +
    transport +
    ')'
  )
}

function nameOf (method = 'unknown method', target: string | undefined): string {
  return target === undefined ? method : method + ' ' + target
}

const placeOf = (upstream: string | undefined): string => upstream === undefined ? '' : ' at ' + upstream
