import type { Outcome } from '../../state/calls.js'

export interface Verdict { words: string, tone: '' | 'good' | 'warn' | 'bad' }

/** How a call ended, in a word or two. */
export function verdictOf (outcome: Outcome | undefined): Verdict {
  switch (outcome?.type) {
    case undefined: return { words: 'running', tone: '' }
    case 'result': return outcome.result.isError === true ? { words: 'tool failed', tone: 'bad' } : { words: 'done', tone: 'good' }
    case 'error': return { words: 'refused', tone: 'bad' }
    case 'cancelled': return { words: 'cancelled', tone: 'warn' }
    case 'lost': return { words: 'lost', tone: 'warn' }
  }
}
