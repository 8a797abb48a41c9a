import type { Middleware } from '../../protocol/dispatch/pipeline.js'

/** The places of a file's middleware in the order of all middleware, which stay the same when the file is loaded anew. */
export class MiddlewareSlots {
  readonly #use: (middleware: Middleware) => void
  #current: Middleware[] = []
  #size = 0

  constructor (use: (middleware: Middleware) => void) {
    this.#use = use
  }

  /** Puts these into the slots. A slot that is left over lets calls pass. */
  fill (middleware: readonly Middleware[]): void {
    this.#current = [...middleware]
    for (; this.#size < middleware.length; this.#size++) {
      const index = this.#size
      this.#use(async (call, next) => await (this.#current[index]?.(call, next) ?? next()))
    }
  }
}
