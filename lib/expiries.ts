interface Expiring { readonly key: string, readonly expires: number }

/** How many keys there are before those that do not count any more are looked for. */
const LOOK_FROM = 64

/** Keys in the order in which they expire, as a binary heap: adding one costs little, however many there are. */
export class Expiries {
  readonly #counts: (key: string, expires: number) => boolean
  #heap: Expiring[] = []
  #lookAt = LOOK_FROM

  /** `counts` is false for a key that was removed, or expires at another time by now: it is dropped then or later. */
  constructor (counts: (key: string, expires: number) => boolean) {
    this.#counts = counts
  }

  add (key: string, expires: number): void {
    this.#heap.push({ key, expires })
    this.#rise(this.#heap.length - 1)
    if (this.#heap.length < this.#lookAt) return
    // A sorted array is a heap. As many keys are added as there are between two looks at all of them.
    const left = this.#heap.filter(({ key, expires }) => this.#counts(key, expires))
    this.#heap = left.sort((one, other) => one.expires - other.expires)
    this.#lookAt = Math.max(LOOK_FROM, 2 * this.#heap.length)
  }

  /** Takes those that count and have expired by then. */
  takeUntil (time: number): string[] {
    const taken: string[] = []
    for (let first = this.#heap[0]; first !== undefined && first.expires <= time; first = this.#heap[0]) {
      const last = this.#heap.pop() as Expiring
      if (last !== first) {
        this.#heap[0] = last
        this.#sink()
      }
      if (this.#counts(first.key, first.expires)) taken.push(first.key)
    }
    return taken
  }

  #rise (at: number): void {
    const item = this.#heap[at] as Expiring
    while (at > 0) {
      const above = (at - 1) >>> 1
      const other = this.#heap[above] as Expiring
      if (other.expires <= item.expires) break
      this.#heap[at] = other
      at = above
    }
    this.#heap[at] = item
  }

  #sink (): void {
    const heap = this.#heap
    const item = heap[0] as Expiring
    let at = 0
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && (heap[below + 1] as Expiring).expires < (heap[below] as Expiring).expires) below++
      const other = heap[below] as Expiring
      if (other.expires >= item.expires) break
      heap[at] = other
      at = below
    }
    heap[at] = item
  }
}
