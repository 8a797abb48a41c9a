import type { Second, Stats, ToolStats } from '../batch.js'
import { CallCounts, SlidingCounts } from './call-statistics.js'
import { bucketOf } from './log-buckets.js'

/** In seconds: for how long calls are counted, and in parts of how many the window moves on. */
const WINDOW = 300
const SLOT = 5
/** The most names that are counted apart, and what all others are counted as. */
const MAX_NAMES = 1_000
const OTHERS = 'others'

/**
 * How many calls there are, how many fail and how long they take: in each of the last 300 seconds, and in the last five
 * minutes by name and in all.
 */
export class Rates {
  readonly #second = new CallCounts()
  readonly #all = new SlidingCounts()
  readonly #named = new Map<string, SlidingCounts>()
  readonly #seconds: Second[] = []
  /** How many seconds are complete. */
  completed = 0
  #began: number
  #ends: number
  /** Seconds that have passed. They never go back, as the time of day may. */
  #elapsed = 0

  /** The time is in milliseconds since 1970. */
  constructor (time: number) {
    this.#began = Math.floor(time / 1_000)
    this.#ends = (this.#began + 1) * 1_000
  }

  /** Counts a call that has ended at that time; `name` is what it is counted apart for. */
  add (time: number, ms: number, isError: boolean, name: string | undefined): void {
    if (time >= this.#ends) this.moveTo(time)
    const bucket = bucketOf(ms)
    this.#second.add(bucket, isError)
    this.#all.add(bucket, isError)
    if (name !== undefined) this.#countsOf(name).add(bucket, isError)
  }

  /** Completes the seconds before that time. */
  moveTo (time: number): void {
    const last = Math.floor(time / 1_000)
    // After a long sleep of the machine, only the window is of interest.
    if (last - this.#began > WINDOW) this.#complete(this.#began, last - WINDOW)
    // The time of day was set back.
    if (last < this.#began) this.#complete(this.#began, last)
    while (this.#began < last) this.#complete(this.#began, this.#began + 1)
  }

  /** The complete seconds from that number on, as far as they are kept. */
  secondsFrom (number: number): Second[] {
    return this.#seconds.slice(Math.max(0, this.#seconds.length - (this.completed - number)))
  }

  get totals (): Stats {
    return this.#all.statistics
  }

  /** The most called first. */
  get byName (): ToolStats[] {
    return [...this.#named]
      .map(([name, counts]) => ({ name, ...counts.statistics }))
      .sort((one, other) => other.calls - one.calls)
  }

  #complete (second: number, next: number): void {
    this.#seconds.push({ at: second * 1_000, ...this.#second.statistics })
    if (this.#seconds.length > WINDOW) this.#seconds.shift()
    this.#second.take()
    this.completed++
    this.#began = next
    this.#ends = (next + 1) * 1_000
    const slot = Math.floor(this.#elapsed / SLOT)
    this.#elapsed += Math.max(0, next - second)
    const nextSlot = Math.floor(this.#elapsed / SLOT)
    if (slot !== nextSlot) this.#endSlot(slot, nextSlot - WINDOW / SLOT)
  }

  #endSlot (slot: number, oldest: number): void {
    this.#all.endSlot(slot, oldest)
    for (const [name, counts] of this.#named) {
      counts.endSlot(slot, oldest)
      if (counts.isEmpty) this.#named.delete(name)
    }
  }

  #countsOf (name: string): SlidingCounts {
    const known = this.#named.get(name)
    if (known !== undefined) return known
    const counts = this.#named.size < MAX_NAMES ? new SlidingCounts() : this.#named.get(OTHERS) ?? new SlidingCounts()
    this.#named.set(this.#named.size < MAX_NAMES ? name : OTHERS, counts)
    return counts
  }
}
