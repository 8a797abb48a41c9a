import { setImmediate } from 'node:timers/promises'

/**
 * How much is done in one turn of the event loop. With characters of JSON that are checked and written, it takes about
 * 5 ms.
 */
const SLICE = 128 * 1024
/** Counted for each piece of work besides its size. */
const PIECE = 256

/** Divides long work into turns of the event loop, in which everything else goes on. */
export class Slices {
  #left = SLICE

  /**
   * Counts a piece of work of this size that was done. A promise has to be awaited before the next piece; mostly there
   * is none.
   */
  spend (size: number): Promise<void> | undefined {
    this.#left -= size + PIECE
    if (this.#left > 0) return undefined
    this.#left = SLICE
    return setImmediate()
  }
}
