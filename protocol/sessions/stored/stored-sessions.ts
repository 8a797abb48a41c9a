import type { Agreement, SessionStore, StoredSession } from '../../store.js'
import type { Session } from '../session.js'

/** The outcome of saving a session: refused when its caller has too many at all nodes, removed when a node ended it. */
export type Saved = 'saved' | 'refused' | 'removed'

/** Reads and writes sessions in the store, each with the time until which it stays there. */
export class StoredSessions {
  readonly #store: SessionStore
  readonly #lifetime: number
  readonly #maxOfPrincipal: number

  /** `lifetime`: for how many milliseconds a session stays in the store after it was last written or touched. */
  constructor (store: SessionStore, lifetime: number, maxOfPrincipal: number) {
    this.#store = store
    this.#lifetime = lifetime
    this.#maxOfPrincipal = maxOfPrincipal
  }

  async load (id: string): Promise<StoredSession | undefined> {
    return await this.#store.load(id)
  }

  /** Writes what has changed since the last time. On an error the changes stay to be saved. */
  async save (session: Session): Promise<Saved> {
    const { id, peer, agreement, stored } = session
    const subscriptions = peer.takeChanges()
    const expires = this.#expiry()
    peer.dirty = false
    try {
      if (stored === undefined) {
        if (!(await this.#store.save(id, session.record, expires, this.#maxOfPrincipal))) return 'refused'
      } else {
        const change = { agreement: difference(stored, agreement), subscriptions }
        if (!(await this.#store.update(id, change, expires))) return 'removed'
      }
      session.stored = agreement
      session.expires = expires
      return 'saved'
    } catch (error) {
      peer.dirty = true
      peer.restoreChanges(subscriptions)
      throw error
    }
  }

  /** Makes sessions stay as long as if they were written now. */
  async touch (sessions: Session[]): Promise<void> {
    if (sessions.length === 0) return
    const expires = this.#expiry()
    for (const session of sessions) session.expires = expires
    await this.#store.touch(sessions.map(({ id }) => id), expires)
  }

  /** True while a session expires when another node wants it to. */
  isUntouched ({ expires, stored }: Session): boolean {
    return expires === 0 && stored !== undefined
  }

  async remove (id: string): Promise<void> {
    await this.#store.remove(id)
  }

  /** Removes a session that no other node has used since this one did. */
  async removeUnused ({ id, expires }: Session): Promise<void> {
    await this.#store.removeUnused(id, expires)
  }

  /** Removes the expired ones. */
  async sweep (): Promise<void> {
    await this.#store.sweep()
  }

  #expiry (): number {
    return Date.now() + this.#lifetime
  }
}

/** The members of an agreement that are not as they were; undefined when all are. */
function difference (before: Agreement, after: Agreement): Partial<Agreement> | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Agreement>
  const changed = [...names].filter(name => before[name] !== after[name])
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map(name => [name, after[name]]))
}
