import { hostname } from 'node:os'
import { pino, type Logger } from 'pino'
import { AUDIT, auditLevel, type AuditLine, type AuditLogger } from '../lib/audit-line.js'
import type { LogLines } from '../system/process/log-lines.js'

/** The logger of the command: pino, writing to standard error, and a shorter way for audit lines. */
export function commandLogger (level: string, pid: number, logs: LogLines): Logger & AuditLogger {
  const base = { pid, hostname: hostname() }
  const logger = pino({ level, base }, logs)
  const members = JSON.stringify(base).slice(1, -1)
  const write = (line: AuditLine): void => {
    const number = logger.levels.values[auditLevel(line.transport, line.outcome)]
    logs.append(`{"level":${number},"time":${line.at},${members},"audit":${JSON.stringify(line)},"msg":"call"}\n`)
  }
  return Object.assign(logger, { [AUDIT]: write })
}
