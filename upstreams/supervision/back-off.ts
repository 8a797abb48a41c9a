import { growingDelay, now } from '../../lib/time.js'

export interface BackOffOptions {
  /** The first delay, in milliseconds; each one after it is twice as long. */
  first: number
  longest: number
  /**
   * After so many failures within `period` milliseconds there is no next try, until a success lasts for `period`, or
   * `reset` is called.
   */
  maxFailures: number
  period: number
}

/**
 * The delay is up to a quarter longer or shorter, so that servers that failed together are not tried again together.
 */
const JITTER = 0.25

/** When something that failed is tried again. A success that lasts for `period` makes it forget all failures. */
export class BackOff {
  readonly #options: BackOffOptions
  readonly #random: () => number
  #delays = 0
  #failures: number[] = []
  #tooMany = false
  #succeededAt: number | undefined

  constructor (options: BackOffOptions, random: () => number = Math.random) {
    this.#options = options
    this.#random = random
  }

  succeed (): void {
    this.#succeededAt = now()
  }

  /** The milliseconds until the next try; undefined when there were too many failures. */
  fail (): number | undefined {
    const { first, longest, maxFailures, period } = this.#options
    const at = now()
    if (this.#succeededAt !== undefined && at - this.#succeededAt >= period) this.reset()
    this.#succeededAt = undefined
    this.#failures = [...this.#failures.filter(time => at - time < period), at].slice(-maxFailures)
    this.#tooMany ||= this.#failures.length >= maxFailures
    if (this.#tooMany) return undefined
    const delay = growingDelay(first, longest, this.#delays++)
    return delay * (1 + JITTER * (2 * this.#random() - 1))
  }

  reset (): void {
    this.#delays = 0
    this.#failures = []
    this.#tooMany = false
  }
}
