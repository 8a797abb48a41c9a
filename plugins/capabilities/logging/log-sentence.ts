import { describeThrown, oneLine } from '../../../lib/one-line.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { isFault } from '../../../protocol/dispatch/observed/observers.js'

const [MAX_SENTENCE, MAX_ERROR, MAX_ID] = [600, 400, 64]

/** The sentence for what a call logged or for an error that no handler foresaw: `tools/call divide failed: TypeError: x is not a function (correlation ...)`. */
export function logSentence (data: unknown, call: Call | undefined): string {
  const what = call === undefined ? undefined : nameOf(call)
  if (isFault(data)) {
    if (data.correlation !== undefined) return `${failed(what ?? 'a request', data.err)} (correlation ${oneLine(data.correlation, MAX_ID)})`
    if (data.listener !== undefined) return failed(`a listener of ${data.listener}`, data.err)
    if (data.notification !== undefined) return failed(data.notification, data.err)
  }
  return oneLine(what === undefined ? 'log outside a call' : `log of ${what}`, MAX_SENTENCE)
}

function nameOf ({ method, target }: Call): string {
  const { tool, resource, prompt }: Partial<Record<'tool' | 'resource' | 'prompt', string>> = target?.auditSubject ?? {}
  const name = tool ?? resource ?? prompt
  return name === undefined ? method : `${method} ${name}`
}

const failed = (what: string, error: unknown): string => oneLine(`${what} failed: ${describeThrown(error, MAX_ERROR)}`, MAX_SENTENCE)
