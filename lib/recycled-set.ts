/** The set is copied after so many additions, unless it holds half as many. */
const RENEWAL = 64

/**
 * A set for what is added and deleted with each call. When a V8 hash table is rehashed, the old table points to the new one; once an old table
 * is in old space, all later entries survive minor garbage collections. So the Set is copied now and then. An iteration sees the items that
 * were there when it began.
 */
export class RecycledSet<T> implements Iterable<T> {
  #set = new Set<T>()
  #added = 0

  get size (): number {
    return this.#set.size
  }

  has (item: T): boolean {
    return this.#set.has(item)
  }

  add (item: T): void {
    if (++this.#added > Math.max(RENEWAL, 2 * this.#set.size)) {
      this.#set = new Set(this.#set)
      this.#added = 0
    }
    this.#set.add(item)
  }

  /** True if the item was there. */
  delete (item: T): boolean {
    return this.#set.delete(item)
  }

  [Symbol.iterator] (): Iterator<T> {
    return [...this.#set].values()
  }
}
