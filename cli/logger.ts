import { hostname } from 'node:os'
import { pino, type Logger } from 'pino'
import { AUDIT, auditLevel, type AuditLine, type AuditLogger } from '../lib/audit-line.js'
import type { LogLines } from '../system/process/log-lines.js'

/** What the command writes to standard error: the lines of pino, and those of the audit as pino would write them, for less. */
export function commandLogger (level: string, pid: number, logs: LogLines): Logger & AuditLogger {
  const base = { pid, hostname: hostname() }
  const logger = pino({ level, base }, logs)
  const text = new AuditText(logger.levels.values, base)
  return Object.assign(logger, { [AUDIT]: (line: AuditLine) => logs.append(text.of(line)) })
}

/** For how many microseconds it is kept how they are written: most calls take fewer, and V8 takes longer to write a fraction than to make the line. */
const SHORT = 4_096

/** A line for each call, most of which differ from the one before in their times alone. */
class AuditText {
  readonly #levels: Record<string, number>
  readonly #base: string
  #last: AuditLine | undefined
  #head = ''
  #middle = ''
  #end = ''
  /** All up to how long it took, for what ends in the same millisecond. */
  #start = ''
  #at = 0
  readonly #times = new Array<string | undefined>(SHORT)

  constructor (levels: Record<string, number>, base: object) {
    this.#levels = levels
    this.#base = JSON.stringify(base).slice(1, -1)
  }

  of (line: AuditLine): string {
    if (this.#last === undefined || !isAlike(line, this.#last)) this.#prepare(line)
    if (line.at !== this.#at) this.#begin(line.at)
    return this.#start + this.#time(line.ms) + this.#end
  }

  #time (ms: number): string {
    const time = Math.round(ms * 1000)
    if (!(time >= 0 && time < SHORT && time / 1000 === ms)) return String(ms)
    const known = this.#times[time] ?? String(ms)
    this.#times[time] = known
    return known
  }

  #begin (at: number): void {
    this.#at = at
    this.#start = `${this.#head}${at}${this.#middle}${at},"ms":`
  }

  #prepare (line: AuditLine): void {
    const { at: _at, ms: _ms, correlation, ...known } = line
    this.#last = line
    this.#head = `{"level":${this.#levels[auditLevel(line.transport, line.outcome)]},"time":`
    this.#middle = `,${this.#base},"audit":${JSON.stringify(known).slice(0, -1)},"at":`
    this.#end = `${correlation === undefined ? '' : `,"correlation":${JSON.stringify(correlation)}`}},"msg":"call"}\n`
    this.#begin(line.at)
  }
}

function isAlike (one: AuditLine, other: AuditLine): boolean {
  return one.principal === other.principal && one.client === other.client && one.transport === other.transport && one.revision === other.revision &&
    one.method === other.method && one.tool === other.tool && one.resource === other.resource && one.prompt === other.prompt &&
    one.outcome === other.outcome && one.code === other.code && one.correlation === other.correlation
}
