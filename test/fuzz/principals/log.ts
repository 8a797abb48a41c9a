import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import type { Fault } from '../oracle.js'
import { MARKS } from './callers.js'
import { faultsOfSecrets } from './oracle.js'

/** The level from which on operators keep what is logged. */
const INFO = 30
const MAX_FAULTS = 10
const TICKET = /[\w-]{43}/g

/** Reads the log of a gateway, down to its finest level, for what must not be in it. */
export class LogReader {
  readonly logger: Logger
  readonly #faults: Fault[] = []
  readonly #isTicket: (text: string) => boolean

  constructor (isTicket: (text: string) => boolean) {
    this.#isTicket = isTicket
    const out = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        for (const line of String(chunk).split('\n')) if (this.#faults.length < MAX_FAULTS) this.#read(line)
        done()
      }
    })
    this.logger = pino({ level: 'trace' }, out)
  }

  /** What was found since this was last asked. */
  take (): Fault[] {
    return this.#faults.splice(0)
  }

  #read (line: string): void {
    this.#faults.push(...faultsOfSecrets(line))
    if (line.match(TICKET)?.some(this.#isTicket) === true) {
      this.#faults.push({ kind: 'secret', text: `a ticket in ${line}` })
    }
    if (Object.values(MARKS).some(mark => line.includes(mark)) && showsText(line)) {
      this.#faults.push({ kind: 'secret', text: `the text of a caller in ${line}` })
    }
  }
}

/**
 * True when a text of a caller is in a line that is kept, and neither where the client names itself nor in what a tool
 * wants to be logged.
 */
function showsText (line: string): boolean {
  const { level, audit, data, ...rest } = JSON.parse(line) as {
    level: number
    audit?: { client?: string }
    data?: unknown
    msg?: string
  }
  const shown = JSON.stringify({
    ...rest,
    audit: { ...audit, client: undefined },
    data: /^log of /.test(String(rest.msg)) ? undefined : data
  })
  return level >= INFO && Object.values(MARKS).some(mark => shown.includes(mark))
}
