import { AsyncResource } from 'node:async_hooks'

const RESOLVED = Promise.resolve()

/** Runs a batch at the end of this turn of the event loop. */
export const onImmediate = (run: () => void): void => { setImmediate(run) }
/**
 * Runs a batch when the microtasks that are queued now have run. A resolved promise costs less than `queueMicrotask`.
 */
export const onMicrotask = (run: () => void): void => { void RESOLVED.then(run) }

/**
 * Collects items of several clients and handles them together: code and data stay in the caches of the CPU. HTTP
 * tools/call with requests handled in turns: 1.58 [1.53..1.60] of one by one. Items keep their order, and each is
 * handled in the asynchronous context in which it was added, so that one client's `AsyncLocalStorage` is not seen by
 * another. What `handle` throws for one item is an uncaught exception, after the others were handled.
 */
export class TurnBatch<T> {
  readonly #handle: (item: T) => void
  readonly #defer: (run: () => void) => void
  readonly #max: number
  readonly #run = () => {
    this.#deferred = false
    this.flush()
  }

  #items: T[] = []
  #contexts: AsyncResource[] = []
  #deferred = false

  /** A batch of `max` items is handled at once. */
  constructor (handle: (item: T) => void, defer: (run: () => void) => void, max = Infinity) {
    this.#handle = handle
    this.#defer = defer
    this.#max = max
  }

  add (item: T): void {
    this.#contexts.push(new AsyncResource('PatchbayTurnBatch'))
    const size = this.#items.push(item)
    if (!this.#deferred) {
      this.#deferred = true
      this.#defer(this.#run)
    }
    if (size >= this.#max) this.flush()
  }

  /** Handles the items added so far. */
  flush (): void {
    const items = this.#items
    const contexts = this.#contexts
    if (items.length === 0) return
    this.#items = []
    this.#contexts = []
    for (let index = 0; index < items.length; index++) {
      this.#handleOne(contexts[index] as AsyncResource, items[index] as T)
    }
  }

  #handleOne (context: AsyncResource, item: T): void {
    try {
      context.runInAsyncScope(this.#handle, undefined, item)
    } catch (error) {
      setImmediate(() => { throw error })
    }
  }
}
