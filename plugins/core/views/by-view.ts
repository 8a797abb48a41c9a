/** Something that the gateway has once as a whole, and once for each view of it. */
export class ByView<T> {
  readonly whole: T
  readonly #make: (view: string | undefined) => T
  readonly #views = new Map<string, T>()
  #closed: T | undefined

  /** `make` gets the name of a view, or undefined for the whole. */
  constructor (make: (view: string | undefined) => T) {
    this.#make = make
    this.whole = make(undefined)
  }

  /** Finds what the clients of a view see: an empty one when the view was closed. */
  of (view: string | undefined): T {
    return view === undefined ? this.whole : this.#views.get(view) ?? this.#empty
  }

  /** Makes the one of a view that is not there yet. */
  open (view: string): T {
    const made = this.#make(view)
    this.#views.set(view, made)
    return made
  }

  /** Forgets the one of a view, and returns it. */
  close (view: string): T | undefined {
    const made = this.#views.get(view)
    this.#views.delete(view)
    return made
  }

  all (): T[] {
    return [this.whole, ...this.#views.values()]
  }

  // No view has the empty name.
  get #empty (): T {
    this.#closed ??= this.#make('')
    return this.#closed
  }
}
