/** Those who want to hear of something. One that throws harms neither who tells nor who else listens. */
export class Listeners<A extends unknown[]> {
  readonly #all = new Set<(...args: A) => void>()

  /** Returns how to stop listening. */
  add (listener: (...args: A) => void): () => void {
    this.#all.add(listener)
    return () => { this.#all.delete(listener) }
  }

  tell (...args: A): void {
    for (const listener of this.#all) {
      try {
        listener(...args)
      } catch {}
    }
  }
}
