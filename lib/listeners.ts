type Listener<A extends unknown[]> = (...args: A) => unknown

/** Reports what a listener threw. */
export type Report = (error: unknown) => void

/** Calls each listener, even when others throw. */
export function callEach (listeners: Iterable<() => unknown>, report: Report): void {
  for (const listener of listeners) {
    try {
      listener()
    } catch (error) {
      report(error)
    }
  }
}

/**
 * Listeners to one event, called in the order they were added. One that throws, or returns a promise that rejects,
 * harms neither the caller of `notify` nor the other listeners; it is reported the first time only, because it is
 * likely to fail each time.
 */
export class Listeners<A extends unknown[]> {
  readonly #report: Report
  readonly #failed = new WeakSet<Listener<A>>()
  // Replaced, not changed, so that listeners can be added and removed while `notify` runs.
  #all: ReadonlyArray<Listener<A>> = []

  constructor (report: Report = () => {}) {
    this.#report = report
  }

  get size (): number {
    return this.#all.length
  }

  /** Returns a function that removes it. */
  add (listener: Listener<A>): () => void {
    this.#all = [...this.#all, listener]
    let added = true
    return () => {
      const at = added ? this.#all.indexOf(listener) : -1
      added = false
      if (at !== -1) this.#all = this.#all.toSpliced(at, 1)
    }
  }

  /** True while there is none, so that nothing has to be made for them. */
  get isEmpty (): boolean {
    return this.#all.length === 0
  }

  notify (...args: A): void {
    for (const listener of this.#all) {
      try {
        const result = listener(...args)
        if (result instanceof Promise) this.#watch(listener, result)
      } catch (error) {
        this.#fail(listener, error)
      }
    }
  }

  clear (): void {
    this.#all = []
  }

  #watch (listener: Listener<A>, result: Promise<unknown>): void {
    result.catch((error: unknown) => this.#fail(listener, error))
  }

  #fail (listener: Listener<A>, error: unknown): void {
    if (this.#failed.has(listener)) return
    this.#failed.add(listener)
    this.#report(error)
  }
}
