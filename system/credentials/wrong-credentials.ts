const WINDOW = 60_000
const MAX_ADDRESSES = 10_000

/**
 * By how many the wrong credentials of an address exceed the limit in its present minute, and the milliseconds until
 * that ends.
 */
export interface Excess { beyond: number, ms: number }

/**
 * Counts wrong credentials per address, in minutes that begin with the first one. The number of addresses is bounded:
 * the oldest are dropped.
 */
export class WrongCredentials {
  readonly #max: number
  readonly #now: () => number
  /** In the order in which their minutes end. */
  readonly #counts = new Map<string, { count: number, until: number }>()

  constructor (max: number, now: () => number = () => performance.now()) {
    this.#max = max
    this.#now = now
  }

  /** How many addresses have a count. */
  get size (): number {
    return this.#counts.size
  }

  /** Counts one more. */
  add (address: string): Excess {
    const now = this.#now()
    this.#dropEnded(now)
    const counted = this.#counts.get(address) ?? this.#begin(address, now)
    counted.count++
    return { beyond: Math.max(0, counted.count - this.#max), ms: counted.until - now }
  }

  #dropEnded (now: number): void {
    for (const [address, { until }] of this.#counts) {
      if (until > now) return
      this.#counts.delete(address)
    }
  }

  #begin (address: string, now: number): { count: number, until: number } {
    for (const oldest of this.#counts.keys()) {
      if (this.#counts.size < MAX_ADDRESSES) break
      this.#counts.delete(oldest)
    }
    const counted = { count: 0, until: now + WINDOW }
    this.#counts.set(address, counted)
    return counted
  }
}
