import type { Outcome } from '../../state/calls.js'

export interface Verdict { words: string, tone: '' | 'good' | 'warn' | 'bad' }

/** The codes of requests that were wrong; others are errors on the way, or of the server. */
const REFUSALS = new Set([-32600, -32601, -32602, -32020, -32021, -32022])

/** How a call ended, in a word or two. */
export function verdictOf (outcome: Outcome | undefined): Verdict {
  switch (outcome?.type) {
    case undefined: return { words: 'running', tone: '' }
    case 'result': return outcome.result.isError === true ? { words: 'tool failed', tone: 'bad' } : { words: 'done', tone: 'good' }
    case 'error': return { words: REFUSALS.has(outcome.code) ? 'refused' : 'error', tone: 'bad' }
    case 'cancelled': return { words: 'cancelled', tone: 'warn' }
    case 'left-out': return outcome.failed ? { words: 'failed', tone: 'bad' } : { words: 'done', tone: 'good' }
    case 'lost': return { words: 'lost', tone: 'warn' }
  }
}
