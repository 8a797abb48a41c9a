import type { Refusal } from '../wire/errors.js'
import type { Refusal as RefusalRow, Unwritten } from './batch.js'

/** In milliseconds: for how long refusals are counted, and in parts of how many the window moves on. */
const WINDOW = 300_000
const SLOT = 5_000
/** No more slots than the window has are kept while no rows are made. */
const MOST_SLOTS = WINDOW / SLOT

interface Counted { readonly refusal: Refusal, readonly slots: Map<number, number>, last: number }

/**
 * How many were refused in the last five minutes, by reason and status. Both come from tables, so that there are few.
 * Times are in milliseconds since 1970.
 */
export class Refusals {
  readonly #counted = new Map<string, Counted>()

  add (refusal: Refusal, time: number): void {
    const key = `${refusal.reason} ${refusal.status}`
    const counted = this.#counted.get(key) ?? { refusal, slots: new Map<number, number>(), last: time }
    const slot = Math.floor(time / SLOT)
    counted.last = Math.round(time)
    counted.slots.set(slot, (counted.slots.get(slot) ?? 0) + 1)
    if (counted.slots.size > MOST_SLOTS) dropOld(counted.slots, time)
    this.#counted.set(key, counted)
  }

  /** The latest first. */
  rows (time: number): Array<Unwritten<RefusalRow>> {
    for (const [key, { slots }] of this.#counted) {
      dropOld(slots, time)
      if (slots.size === 0) this.#counted.delete(key)
    }
    const latest = [...this.#counted.values()].sort((one, other) => other.last - one.last)
    return latest.map(({ refusal: { reason, status }, slots, last }) => ({
      reason,
      status,
      count: [...slots.values()].reduce((sum, count) => sum + count, 0),
      last
    }))
  }
}

function dropOld (slots: Map<number, number>, time: number): void {
  const [oldest, newest] = [Math.floor((time - WINDOW) / SLOT), Math.floor(time / SLOT)]
  // A slot is too new if the time of day was set back.
  for (const slot of slots.keys()) if (slot <= oldest || slot > newest) slots.delete(slot)
}
