import { setTimeout as sleep } from 'node:timers/promises'

/** Only what goes wrong takes this long, in milliseconds: on a busy machine the first answer of a process may take seconds. */
const PATIENCE = 30_000

/** The promise's value, or an error that names what did not happen in time. */
export async function within<T> (what: string, promise: Promise<T>, ms = PATIENCE): Promise<T> {
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

/** Waits until the condition holds. */
export async function until (what: string, holds: () => boolean, ms = PATIENCE): Promise<void> {
  const end = Date.now() + ms
  while (!holds()) {
    if (Date.now() > end) throw new Error(`${what} did not happen within ${ms} ms`)
    await sleep(1)
  }
}

/** What arrives, in order, to be waited for. */
export class Inbox<T> {
  readonly #items: T[] = []
  #wake: (() => void) | undefined

  get size (): number {
    return this.#items.length
  }

  push (item: T): void {
    this.#items.push(item)
    this.#wake?.()
  }

  /** All that is there. */
  take (): T[] {
    return this.#items.splice(0)
  }

  async next (ms?: number): Promise<T> {
    if (this.#items.length === 0) await within('an answer', new Promise<void>(resolve => { this.#wake = resolve }), ms)
    this.#wake = undefined
    return this.#items.shift() as T
  }
}
