/**
 * The change notifications of a stream that wait for a client; one of each is enough. However often a list changes, one list_changed waits. The same
 * holds for updates of a resource until a client has connected for the first time.
 */
export class WaitingNotices {
  #texts: Set<string> | undefined
  #wasConnected: boolean

  constructor (wasConnected: boolean) {
    this.#wasConnected = wasConnected
  }

  /** A client has connected, so none waits. */
  clear (): void {
    this.#wasConnected = true
    this.#texts = undefined
  }

  /** Adds a message, if it is a change notification; false if the same one waits already. */
  add (text: string, method: string): boolean {
    if (!method.endsWith('/list_changed') && (this.#wasConnected || !method.endsWith('/updated'))) return true
    if (this.#texts?.has(text) === true) return false
    this.#texts = (this.#texts ?? new Set()).add(text)
    return true
  }
}
