import type { Json, LogEntry } from '../../client/contract.js'

/** From the least severe. */
export const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** The lines at this level and above; a level that is not known is never hidden. */
export function linesFrom (lines: LogEntry[], least: string): LogEntry[] {
  const from = LEVELS.indexOf(least)
  return lines.filter(({ level }) => !LEVELS.includes(level) || LEVELS.indexOf(level) >= from)
}

export function toneOf (level: string): '' | 'warn' | 'bad' {
  const place = LEVELS.indexOf(level)
  return place >= LEVELS.indexOf('error') ? 'bad' : level === 'warning' ? 'warn' : ''
}

/** More of one line is not shown. */
const MAX_LINE = 2_000

export function wordsOf (data: Json): string {
  return (typeof data === 'string' ? data : JSON.stringify(data)).slice(0, MAX_LINE)
}
