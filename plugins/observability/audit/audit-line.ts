import { oneLine } from '../../../lib/one-line.js'
import { shortName } from '../../../protocol/wire/identity.js'

const MAX_SENTENCE = 400

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
  outcome: string
  code: number | undefined
  /** How long it took, in milliseconds. */
  ms: number
  /** The id that the client got with an internal error. */
  correlation: string | undefined
}

/** The line for people, in one sentence: `tools/call calculate ok 2.0 ms (ada, http)`. */
export function callSentence ({ principal, transport, method = 'unknown method', tool, resource, prompt, outcome, code, ms }: AuditLine): string {
  const target = tool ?? resource ?? prompt
  const what = target === undefined ? method : method + ' ' + target
  const how = outcome === 'error' ? 'error ' + code : outcome
  return oneLine(what + ' ' + how + ' ' + ms.toFixed(1) + ' ms (' + (principal === undefined ? '' : shortName(principal) + ', ') + transport + ')', MAX_SENTENCE)
}
