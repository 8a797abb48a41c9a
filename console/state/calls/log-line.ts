import type { LogEntry } from '../../client/contract.js'
import { shorten } from './short-text.js'

/** One message of a call's log, as text. */
export interface LogLine { level: string, logger?: string, text: string }

/** More of one line is not kept, and of its names. */
export const MAX_LINE = 2_000
const MAX_NAME = 200

export function logLineOf ({ level, logger, data }: LogEntry): LogLine {
  const text = shorten(typeof data === 'string' ? data : JSON.stringify(data), MAX_LINE)
  return { level: shorten(level, MAX_NAME), text, ...(logger === undefined ? {} : { logger: shorten(logger, MAX_NAME) }) }
}
