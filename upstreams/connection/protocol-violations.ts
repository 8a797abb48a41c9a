import { now } from '../../lib/time.js'

/** How often a line about them is written at most, in milliseconds. */
const INTERVAL = 60_000

/**
 * Counts what an upstream should not have sent, and reports the count now and then: a hostile one sends a lot of it.
 */
export class ProtocolViolations {
  readonly #report: (count: number, latest: string) => void
  #reportedAt = -Infinity
  #count = 0

  constructor (report: (count: number, latest: string) => void) {
    this.#report = report
  }

  add (what: string): void {
    this.#count++
    if (now() - this.#reportedAt < INTERVAL) return
    this.#report(this.#count, what)
    this.#reportedAt = now()
    this.#count = 0
  }
}
