import type { Outcome } from '../../state/calls.js'
import type { LogLine } from '../../state/kept-text.js'

export interface Verdict { words: string, tone: '' | 'good' | 'warn' | 'bad' }

/** The codes of requests that were wrong; others are errors on the way, or of the server. */
const REFUSALS = new Set([-32600, -32601, -32602, -32020, -32021, -32022])

/** How a call ended, in a word or two. */
export function verdictOf (outcome: Outcome | undefined): Verdict {
  switch (outcome?.type) {
    case undefined:
      return { words: 'running', tone: '' }
    case 'result':
      return outcome.result.isError === true ? { words: 'tool failed', tone: 'bad' } : { words: 'done', tone: 'good' }
    case 'error':
      return { words: REFUSALS.has(outcome.code) ? 'refused' : 'error', tone: 'bad' }
    case 'cancelled':
      return { words: 'cancelled', tone: 'warn' }
    case 'left-out':
      return outcome.failed ? { words: 'failed', tone: 'bad' } : { words: 'done', tone: 'good' }
    case 'lost':
      return { words: 'lost', tone: 'warn' }
  }
}

/** From the least severe. */
export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** The lines at this level and above; a level that is not known is never hidden. */
export function linesFrom (lines: LogLine[], least: string): LogLine[] {
  const from = LEVELS.indexOf(least)
  return lines.filter(({ level }) => !LEVELS.includes(level) || LEVELS.indexOf(level) >= from)
}

export function toneOf (level: string): '' | 'warn' | 'bad' {
  const place = LEVELS.indexOf(level)
  return place >= LEVELS.indexOf('error') ? 'bad' : level === 'warning' ? 'warn' : ''
}
