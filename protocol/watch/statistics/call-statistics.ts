import type { Stats } from '../batch.js'
import { BUCKETS, quantiles } from './log-buckets.js'

const SHARES = [0.5, 0.95, 0.99]

/** Counts calls by the bucket of their duration. */
export class CallCounts {
  readonly #counts = new Uint32Array(BUCKETS)
  calls = 0
  errors = 0

  add (bucket: number, isError: boolean): void {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.calls++
    if (isError) this.errors++
  }

  get statistics (): Stats {
    if (this.calls === 0) return { calls: 0, errors: 0, p50: 0, p95: 0, p99: 0 }
    const [p50 = 0, p95 = 0, p99 = 0] = quantiles(this.#counts, this.calls, SHARES)
    return { calls: this.calls, errors: this.errors, p50, p95, p99 }
  }

  /** The counts by bucket, without those that are 0. */
  take (): CountedSlot {
    if (this.calls === 0) return NO_CALLS
    const slot = {
      errors: this.errors,
      buckets: [...this.#counts.keys()].flatMap(bucket =>
        this.#counts[bucket] === 0 ? [] : [[bucket, this.#counts[bucket] ?? 0] as const]
      )
    }
    this.#counts.fill(0)
    this.calls = this.errors = 0
    return slot
  }

  /** Takes back what was counted. */
  subtract ({ errors, buckets }: CountedSlot): void {
    this.errors -= errors
    for (const [bucket, count] of buckets) {
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) - count
      this.calls -= count
    }
  }
}

/** Counts of one part of a window. */
export interface CountedSlot {
  readonly errors: number
  readonly buckets: ReadonlyArray<readonly [bucket: number, count: number]>
}

const NO_CALLS: CountedSlot = { errors: 0, buckets: [] }

/** Counts over the last slots. Old ones go when `endSlot` is called. */
export class SlidingCounts {
  readonly #all = new CallCounts()
  readonly #now = new CallCounts()
  readonly #past: Array<CountedSlot & { number: number }> = []

  add (bucket: number, isError: boolean): void {
    this.#all.add(bucket, isError)
    this.#now.add(bucket, isError)
  }

  get isEmpty (): boolean {
    return this.#all.calls === 0
  }

  get statistics (): Stats {
    return this.#all.statistics
  }

  /** Ends the slot of that number; the oldest that counts from now on is `oldest`. */
  endSlot (number: number, oldest: number): void {
    if (this.#now.calls > 0) this.#past.push({ number, ...this.#now.take() })
    while (this.#past[0] !== undefined && this.#past[0].number < oldest) {
      this.#all.subtract(this.#past.shift() as CountedSlot)
    }
  }
}
