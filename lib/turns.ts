import { setImmediate } from 'node:timers/promises'

/** How long work goes on in one turn of the event loop, in milliseconds. */
const LONGEST = 4

/** Divides long work of unknown size into short turns of the event loop, in which everything else goes on. */
export class Turns {
  #began = performance.now()

  /** A promise that has to be awaited before the next piece of work; mostly there is none. */
  pause (): Promise<void> | undefined {
    return performance.now() - this.#began < LONGEST ? undefined : this.#wait()
  }

  async #wait (): Promise<void> {
    await setImmediate()
    this.#began = performance.now()
  }
}
