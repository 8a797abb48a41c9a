/**
 * The URIs one client is subscribed to, how long they are together, and what has changed in them since its session was
 * kept.
 */
export class SubscribedUris {
  readonly uris = new Set<string>()
  /** How many characters all of them have. */
  textLength = 0
  #changes = new Map<string, boolean>()

  get hasChanges (): boolean {
    return this.#changes.size > 0
  }

  set (uri: string, wanted: boolean): void {
    if (this.uris.has(uri) === wanted) return
    this.uris[wanted ? 'add' : 'delete'](uri)
    this.textLength += wanted ? uri.length : -uri.length
    this.#changes.set(uri, wanted)
  }

  /** Gives what has changed since it was last asked for. */
  takeChanges (): Map<string, boolean> {
    const changes = this.#changes
    this.#changes = new Map()
    return changes
  }

  /**
   * Marks changes that could not be stored as changed again. The present state counts, as a later change of the same
   * URI may have been stored meanwhile.
   */
  restoreChanges (changes: Map<string, boolean>): void {
    for (const uri of changes.keys()) this.#changes.set(uri, this.uris.has(uri))
  }
}
