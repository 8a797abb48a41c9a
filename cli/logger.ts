import { hostname } from 'node:os'
import { pino, type Logger } from 'pino'
import type { LogLines } from '../system/process/log-lines.js'

/** The logger of the command: pino, writing to standard error. */
export function commandLogger (level: string, pid: number, logs: LogLines): Logger {
  return pino({ level, base: { pid, hostname: hostname() } }, logs)
}
