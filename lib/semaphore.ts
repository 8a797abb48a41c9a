/** Lets a number of tasks run at once; the others wait in the order they came. */
export class Semaphore {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor (count: number) {
    this.#free = count
  }

  /** Runs `work` when one of the others has finished; rejects if the signal aborts before. */
  async run<T> (signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  async #wait (signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.delete(go)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#waiting.add(go)
    })
  }

  #release (): void {
    const [go] = this.#waiting
    if (go === undefined) {
      this.#free++
      return
    }
    this.#waiting.delete(go)
    go()
  }
}
