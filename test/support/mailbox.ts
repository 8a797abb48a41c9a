const DEADLINE = 10_000

/** What arrived and was not fetched yet; whoever comes too early waits. */
export class Mailbox<T> {
  #items: T[] = []
  readonly #waiting = new Set<() => void>()

  push (item: T): void {
    this.#items.push(item)
    for (const look of this.#waiting) look()
  }

  /** Takes out the first item that fits, waiting for it if need be. */
  async take (what: string, fits: (item: T) => boolean = () => true): Promise<T> {
    let look = () => {}
    const found = new Promise<T>(resolve => {
      look = () => {
        const index = this.#items.findIndex(fits)
        if (index === -1) return
        // More may be pushed before whoever waits runs on.
        this.#waiting.delete(look)
        resolve(this.#items.splice(index, 1)[0] as T)
      }
    })
    this.#waiting.add(look)
    look()
    return await within(found, what).finally(() => this.#waiting.delete(look))
  }

  /** Takes out everything. */
  empty (): T[] {
    return this.#items.splice(0)
  }
}

/** The promise, or an error that names what did not happen in time. */
export async function within<T> (promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come within ${DEADLINE} ms`)), DEADLINE)
  })
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
