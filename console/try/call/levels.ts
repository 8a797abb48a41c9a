import type { LogLine } from '../../state/calls/log-line.js'

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
