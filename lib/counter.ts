/** Counts per key. Keys whose count is 0 take no memory. */
export class Counter {
  readonly #counts = new Map<string, number>()

  /** How many keys have a count. */
  get size (): number {
    return this.#counts.size
  }

  get (key: string): number {
    return this.#counts.get(key) ?? 0
  }

  increment (key: string): void {
    this.#counts.set(key, this.get(key) + 1)
  }

  decrement (key: string): void {
    const left = this.get(key) - 1
    if (left > 0) this.#counts.set(key, left)
    else this.#counts.delete(key)
  }
}
