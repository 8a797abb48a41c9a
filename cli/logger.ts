import { hostname } from 'node:os'
import { isatty } from 'node:tty'
import { pino, type Logger } from 'pino'
import type { Options } from '../options.js'
import type { LogLines } from '../system/process/log-lines.js'
import { STANDARD_ERROR } from '../system/process/standard-error.js'
import { shortError } from './short-error.js'

/** The logger of the command: pino, writing to standard error. */
export function commandLogger (level: string, pid: number, logs: LogLines): Logger {
  return pino({ level, base: { pid, hostname: hostname() }, serializers: { err: shortError } }, logs)
}

/** Writes log lines for people, not as JSON, if the format is `pretty`, or if it is `auto` and standard error is a terminal. True if it does. */
export async function chooseFormat (logs: LogLines, format: Options['logFormat']): Promise<boolean> {
  const terminal = isatty(STANDARD_ERROR)
  if (format === 'json' || (format === 'auto' && !terminal)) return false
  const { painter } = await import('./pretty/colours.js')
  const { prettyLog } = await import('./pretty/pretty-log.js')
  logs.format = prettyLog(painter(process.env, terminal), process.cwd())
  return true
}
