type Listener = (reason: Error) => void

/** What an `AbortController` is, for code that runs for every call: V8 makes an `AbortSignal` and its listeners far more slowly than this. */
export class Cancellation {
  #reason: Error | undefined
  #first: Listener | undefined
  #others: Set<Listener> | undefined

  /** Why it was cancelled; undefined as long as it was not. */
  get reason (): Error | undefined {
    return this.#reason
  }

  throwIfCancelled (): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  /** Runs `listener` once, when it is cancelled; never if it was cancelled before. Returns a function that removes the listener. */
  on (listener: Listener): () => void {
    if (this.#first === undefined) this.#first = listener
    else (this.#others ??= new Set()).add(listener)
    return () => this.#remove(listener)
  }

  /** Does nothing the second time. */
  cancel (reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    const [first, others] = [this.#first, this.#others]
    this.#first = this.#others = undefined
    first?.(reason)
    if (others !== undefined) for (const listener of others) listener(reason)
  }

  #remove (listener: Listener): void {
    if (this.#first === listener) this.#first = undefined
    else this.#others?.delete(listener)
  }
}
