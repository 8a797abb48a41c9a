import { now } from '../../lib/time/clock.js'

/** How often a line about oddities is written at most, in milliseconds. */
const INTERVAL = 60_000

/** Counts what an upstream should not have sent, and reports the count now and then: a hostile one sends a lot of it. */
export class Oddities {
  readonly #report: (count: number, latest: string) => void
  #reportedAt = -Infinity
  #count = 0
  #sinceReport = 0

  constructor (report: (count: number, latest: string) => void) {
    this.#report = report
  }

  get count (): number {
    return this.#count
  }

  add (what: string): void {
    this.#count++
    this.#sinceReport++
    if (now() - this.#reportedAt < INTERVAL) return
    this.#report(this.#sinceReport, what)
    this.#reportedAt = now()
    this.#sinceReport = 0
  }
}
