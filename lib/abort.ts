import { setMaxListeners } from 'node:events'

interface Waiting { all: Set<() => void>, stop: () => void }

const waiting = new WeakMap<AbortSignal, Waiting>()

/**
 * Runs `run` when the signal aborts; returns a function that removes it. A signal gets one listener for all of them:
 * Node.js prints a warning about a leak for more than ten.
 */
export function onAbort (signal: AbortSignal, run: () => void): () => void {
  const { all, stop } = waiting.get(signal) ?? watch(signal)
  all.add(run)
  return () => {
    if (all.delete(run) && all.size === 0) stop()
  }
}

/**
 * A controller whose signal may have any number of listeners without a warning: authors pass it to everything that
 * waits.
 */
export function createAbortController (aborted?: Error): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  if (aborted !== undefined) controller.abort(aborted)
  return controller
}

function watch (signal: AbortSignal): Waiting {
  const all = new Set<() => void>()
  const runAll = () => { for (const run of all) run() }
  const stop = () => {
    signal.removeEventListener('abort', runAll)
    waiting.delete(signal)
  }
  signal.addEventListener('abort', runAll, { once: true })
  waiting.set(signal, { all, stop })
  return { all, stop }
}

/**
 * Settles as the promise does, or rejects with the signal's reason as soon as it aborts. What the promise does
 * afterwards is ignored.
 */
export async function unlessAborted<T> (promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return await promise
  let forget = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    else forget = onAbort(signal, () => reject(signal.reason))
  })
  try {
    // The signal first: of two promises that are settled already, race takes the first.
    return await Promise.race([aborted, promise])
  } finally {
    forget()
  }
}

type Listener = (reason: Error) => void

/**
 * Does the work of an `AbortController` for code that runs for every call: V8 makes an `AbortSignal` and its listeners
 * far more slowly than this.
 */
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

  /**
   * Runs `listener` once, when it is cancelled; never if it was cancelled before. Returns a function that removes the
   * listener.
   */
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
