import type { SessionRecord, SessionStore } from '../store.js'
import type { Session } from './session.js'

/** Reads and writes the sessions of this node in the store, each with the time until which it stays there. */
export class StoredSessions {
  /** Where this node listens; the store keeps it with each session. Empty until the server listens. */
  nodeAddress = ''
  readonly #store: SessionStore
  readonly #lifetime: number

  /** `lifetime`: for how many milliseconds a session stays in the store after it was last written or touched. */
  constructor (store: SessionStore, lifetime: number) {
    this.#store = store
    this.#lifetime = lifetime
  }

  async load (id: string): Promise<SessionRecord | undefined> {
    return await this.#store.load(id)
  }

  /** Makes a session this node's; undefined when the store has none of that id. */
  async adopt (id: string): Promise<SessionRecord | undefined> {
    return await this.#store.adopt(id, this.nodeAddress, this.#expiry)
  }

  /** The ids of the sessions that a node of our address has served. */
  async idsAtNode (): Promise<string[]> {
    return await this.#store.listByNode(this.nodeAddress)
  }

  /** Writes what has changed since the last time; false when another node has the session. On an error the changes stay to be saved. */
  async save (session: Session): Promise<boolean> {
    const { id, peer, peer: { dirty } } = session
    const subscriptions = peer.takeChanges()
    peer.dirty = false
    try {
      if (!session.stored) await this.#store.save(id, session.record, this.nodeAddress, this.#expiry)
      else return await this.#store.update(id, { agreement: dirty ? session.agreement : undefined, subscriptions }, this.#expiry)
      session.stored = true
      return true
    } catch (error) {
      peer.dirty ||= dirty
      peer.restoreChanges(subscriptions)
      throw error
    }
  }

  /** Makes sessions stay as long as if they were written now. */
  async touch (sessions: Session[]): Promise<void> {
    if (sessions.length > 0) await this.#store.touch(sessions.map(({ id }) => id), this.#expiry)
  }

  async remove (id: string): Promise<void> {
    await this.#store.remove(id)
  }

  /** Removes the expired ones. */
  async sweep (): Promise<void> {
    await this.#store.sweep()
  }

  get #expiry (): number {
    return Date.now() + this.#lifetime
  }
}
