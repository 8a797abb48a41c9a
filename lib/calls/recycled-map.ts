/** The map is copied after so many additions, unless it holds half as many. */
const RENEWAL = 64

/** A map for what is added and deleted with each call, copied now and then for the reason that lib/recycled-set.ts gives. */
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
