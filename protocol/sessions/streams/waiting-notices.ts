/** Change notifications that wait for a client to connect to a stream; one of each is enough. */
export class WaitingNotices {
  #texts: Set<string> | undefined

  /**
   * False when the same notification waits already. However often a list changes, one list_changed waits for a client that is not connected. The
   * same holds for updates of a resource until a client has connected for the first time.
   */
  add (text: string, method: string, wasConnected: boolean): boolean {
    const once = method.endsWith('/list_changed') || (method.endsWith('/updated') && !wasConnected)
    if (!once) return true
    this.#texts ??= new Set()
    return this.#texts.size !== this.#texts.add(text).size
  }

  clear (): void {
    this.#texts = undefined
  }
}
