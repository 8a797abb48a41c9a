import { inTime } from './wait.js'

/** Items that arrived and were not fetched yet. `take` waits for the next one. */
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
        // More may be pushed before the waiting function runs on.
        this.#waiting.delete(look)
        resolve(this.#items.splice(index, 1)[0] as T)
      }
    })
    this.#waiting.add(look)
    look()
    return await inTime(found, what).finally(() => this.#waiting.delete(look))
  }

  /** Takes out everything. */
  empty (): T[] {
    return this.#items.splice(0)
  }
}
