import type { StoredSession } from '../store.js'
import type { Session } from './session.js'
import type { StoredSessions } from './stored/stored-sessions.js'

export interface RestorerOptions {
  stored: StoredSessions
  /** The session of that id which this node serves. */
  served: (id: string) => Session | undefined
  /** Throws when there may be no more sessions. */
  reserve: () => void
  /** Serves a stored session. */
  serve: (id: string, stored: StoredSession) => Promise<void>
  /** Takes over what another node has stored of a session that is served here: undefined when it was removed. */
  refresh: (session: Session, stored: StoredSession | undefined) => Promise<void>
}

/** Reads sessions from the store: those that are not served here yet, and those that another node has changed. */
export class SessionRestorer {
  readonly #options: RestorerOptions
  /** By session id: requests for a session wait while it is being read from the store or removed from it. */
  readonly #pending = new Map<string, Promise<void>>()
  #restoring = 0

  constructor (options: RestorerOptions) {
    this.#options = options
  }

  /** How many are being restored now; they count as sessions already. */
  get restoring (): number {
    return this.#restoring
  }

  /**
   * Makes a session of that caller and view one that is served here as it is stored; undefined when there is nothing to
   * wait for.
   */
  restoreFor (id: string, principal: string | undefined, view: string | undefined): Promise<void> | undefined {
    const pending = this.#pending.get(id)
    const served = this.#options.served(id)
    // A session that is served here is known well enough when the store fails.
    if (pending !== undefined) {
      return served === undefined ? this.#restoreAfter(pending, id, principal, view) : pending.catch(() => {})
    }
    if (served?.stale === false) return undefined
    return served === undefined ? this.#compareAndRestore(id, principal, view) : this.refresh(served).catch(() => {})
  }

  async restore (id: string): Promise<void> {
    if (this.#options.served(id) === undefined) {
      await this.#once(id, async () => {
        await this.#restore(id, await this.#options.stored.load(id))
      })
    }
  }

  /** Reads a session again that is served here. */
  async refresh (session: Session): Promise<void> {
    // A restore that has begun already may have read the session before it was changed.
    await this.#pending.get(session.id)?.catch(() => {})
    await this.#once(session.id, async () => {
      session.stale = false
      try {
        await this.#options.refresh(session, await this.#options.stored.load(session.id))
      } catch (error) {
        session.stale = true
        throw error
      }
    })
  }

  /** Requests for a session wait until it is removed from the store, and until what was begun before that has ended. */
  async remove (id: string, removed: Promise<void>): Promise<void> {
    void this.#setPending(id, Promise.allSettled([this.#pending.get(id), removed]).then(() => {}))
    await removed
  }

  // A session that this node was about to remove as unused stays in the store if another node uses it.
  async #restoreAfter (
    pending: Promise<void>,
    id: string,
    principal: string | undefined,
    view: string | undefined
  ): Promise<void> {
    await pending
    if (this.#options.served(id) === undefined) await this.#compareAndRestore(id, principal, view)
  }

  async #compareAndRestore (id: string, principal: string | undefined, view: string | undefined): Promise<void> {
    const stored = await this.#options.stored.load(id)
    if (stored === undefined || stored.record.principal !== principal || stored.record.view !== view) return
    if (this.#options.served(id) === undefined) await this.#once(id, async () => await this.#restore(id, stored))
  }

  async #restore (id: string, stored: StoredSession | undefined): Promise<void> {
    const { reserve, serve } = this.#options
    if (stored === undefined) return
    reserve()
    this.#restoring++
    try {
      await serve(id, stored)
    } finally {
      this.#restoring--
    }
  }

  async #once (id: string, work: () => Promise<void>): Promise<void> {
    await (this.#pending.get(id) ?? this.#setPending(id, work()))
  }

  // Another entry may have taken the place of this one when it settles.
  #setPending (id: string, work: Promise<void>): Promise<void> {
    const pending = work.finally(() => { if (this.#pending.get(id) === pending) this.#pending.delete(id) })
    this.#pending.set(id, pending)
    return pending
  }
}
