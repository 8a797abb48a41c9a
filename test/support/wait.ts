import { once, type EventEmitter } from 'node:events'

// The timers of the machine, because some tests stop the global ones.
const { setTimeout, clearTimeout } = globalThis

const sleep = async (ms: number): Promise<void> => await new Promise(resolve => { setTimeout(resolve, ms) })

/**
 * In milliseconds. Only a failing test waits this long: on a busy machine the first answer of a process may take
 * seconds.
 */
const DEADLINE = 60_000

/**
 * Runs `work` with a signal that aborts after `ms`. Keeps the process awake meanwhile, as the timers of the server do
 * not.
 */
export async function within<T> (ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new Error(`nothing came within ${ms} ms`)), ms)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** The value of the promise, or an error that names what did not happen in time. */
export async function inTime<T> (promise: Promise<T>, what: string, ms = DEADLINE): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for a fixed time. The reason says why neither an event nor a clock that the test turns will do; at most ten
 * calls are left, which test/waiting.test.ts counts.
 */
export async function pause (ms: number, _reason: string): Promise<void> {
  await sleep(ms)
}

/**
 * Takes time as a part of what a test has built: a tool, a client or a server that is slow. Rejects when the signal
 * aborts.
 */
export async function takeTime (ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(resolve, ms)
    const abort = (reason: Error): void => { clearTimeout(timer); reject(reason) }
    signal?.addEventListener('abort', () => abort(signal.reason as Error), { once: true })
  })
}

/** Settles never, unless the signal aborts: then it rejects with its reason. Keeps no process alive. */
export async function untilAborted (signal: AbortSignal): Promise<never> {
  await new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  signal.throwIfAborted()
  throw new Error('the signal has not aborted')
}

/**
 * Waits until the condition holds, for conditions that no event announces; it is looked at again after some
 * milliseconds.
 */
export async function until (
  holds: () => boolean | Promise<boolean>,
  what = String(holds),
  ms = DEADLINE,
  again = 2
): Promise<void> {
  // A timer and no clock, because some tests move the clocks.
  let late = false
  const timer = setTimeout(() => {
    late = true
  }, ms)
  try {
    while (!(await holds())) {
      if (late) throw new Error(`${what} did not happen within ${ms} ms`)
      await sleep(again)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The arguments of the next event of that name. */
export async function nextEvent (source: EventEmitter, event: string, ms = DEADLINE): Promise<unknown[]> {
  return await within(ms, async signal => await once(source, event, { signal }) as unknown[])
}

/** Items in the order in which they arrived, to be waited for. */
export class Inbox<T> {
  readonly #items: T[] = []
  #wake: (() => void) | undefined
  #ended = false

  get size (): number {
    return this.#items.length
  }

  push (item: T): void {
    this.#items.push(item)
    this.#wake?.()
  }

  /** Removes and returns all items. */
  take (): T[] {
    return this.#items.splice(0)
  }

  /** Ends waiting for more: `next` rejects when there is nothing left. */
  end (): void {
    this.#ended = true
    this.#wake?.()
  }

  async next (ms?: number): Promise<T> {
    const isIdle = this.#items.length === 0 && !this.#ended
    if (isIdle) await inTime(new Promise<void>(resolve => { this.#wake = resolve }), 'an answer', ms)
    this.#wake = undefined
    if (this.#items.length === 0) throw new Error('nothing more arrives')
    return this.#items.shift() as T
  }
}
