/** A set or map is copied after so many additions, unless it holds half as many. */
const RENEWAL = 64

/**
 * A set for what is added and deleted with each call. When a V8 hash table is rehashed, the old table points to the new
 * one; once an old table is in old space, all later entries survive minor garbage collections. So the Set is copied now
 * and then. An iteration sees the items that were there when it began.
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

/** A map for what is added and deleted with each call, copied now and then as a `RecycledSet` is. */
export class RecycledMap<K, V> {
  #map = new Map<K, V>()
  #added = 0

  get size (): number {
    return this.#map.size
  }

  get (key: K): V | undefined {
    return this.#map.get(key)
  }

  set (key: K, value: V): void {
    if (++this.#added > Math.max(RENEWAL, 2 * this.#map.size)) {
      this.#map = new Map(this.#map)
      this.#added = 0
    }
    this.#map.set(key, value)
  }

  /** True if the key was there. */
  delete (key: K): boolean {
    return this.#map.delete(key)
  }

  keys (): K[] {
    return [...this.#map.keys()]
  }

  values (): V[] {
    return [...this.#map.values()]
  }
}
