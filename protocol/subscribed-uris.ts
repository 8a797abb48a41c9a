/** The URIs one client is subscribed to, how long they are together, and what has changed in them since its session was kept. */
export class SubscribedUris {
  readonly uris = new Set<string>()
  /** How many characters all of them have. */
  text = 0
  #changes = new Map<string, boolean>()

  get changed (): boolean {
    return this.#changes.size > 0
  }

  set (uri: string, wanted: boolean): void {
    if (this.uris.has(uri) === wanted) return
    this.uris[wanted ? 'add' : 'delete'](uri)
    this.text += wanted ? uri.length : -uri.length
    this.#changes.set(uri, wanted)
  }

  /** Gives what has changed since it was last asked for. */
  takeChanges (): Map<string, boolean> {
    const changes = this.#changes
    this.#changes = new Map()
    return changes
  }

  /** Takes back changes that could not be kept, unless the client has changed its mind since. */
  returnChanges (changes: Map<string, boolean>): void {
    this.#changes = new Map([...changes, ...this.#changes])
  }
}
