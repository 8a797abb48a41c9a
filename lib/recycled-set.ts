/** After how many additions a set is made anew, if it does not hold half as many. */
const RENEWAL = 64

/**
 * A set of what comes and goes all the time. The tables that a Set has outgrown refer to the next one and to what was in them, and the
 * garbage collector finds out but now and then that the old ones are gone: a Set through which every call goes would keep calls in memory
 * long after they are over. So it is made anew before that costs anything. Whoever iterates sees what was there when it began.
 */
export class Passing<T> implements Iterable<T> {
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

  /** True when it was there. */
  delete (item: T): boolean {
    return this.#set.delete(item)
  }

  [Symbol.iterator] (): Iterator<T> {
    return [...this.#set].values()
  }
}
