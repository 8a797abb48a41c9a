import type { SessionRecord } from '../store.js'
import type { StoredSessions } from './stored-sessions.js'

export interface RestorerOptions {
  stored: StoredSessions
  isServed: (id: string) => boolean
  /** Throws when there may be no more sessions. */
  reserve: () => void
  /** Serves a session that is ours now. */
  serve: (id: string, record: SessionRecord) => Promise<void>
}

/** Restores sessions from the store, each once however many requests want it. */
export class SessionRestorer {
  readonly #options: RestorerOptions
  /** By session id: requests for a session wait while it is being read from the store or removed from it. */
  readonly #pending = new Map<string, Promise<void>>()
  #adopting = 0

  constructor (options: RestorerOptions) {
    this.#options = options
  }

  /** How many are being restored now; they count as sessions already. */
  get adopting (): number {
    return this.#adopting
  }

  /** Makes a session of that caller and view ours; undefined when there is nothing to wait for. */
  restoreFor (id: string, principal: string | undefined, view: string | undefined): Promise<void> | undefined {
    const pending = this.#pending.get(id)
    return pending !== undefined || this.#options.isServed(id) ? pending : this.#compareAndRestore(id, principal, view)
  }

  async restore (id: string): Promise<void> {
    if (this.#options.isServed(id)) return
    const pending = this.#pending.get(id) ?? this.#adopt(id).finally(() => this.#pending.delete(id))
    this.#pending.set(id, pending)
    await pending
  }

  /** Removes a session from the store; requests for it wait until it is gone. */
  async remove (id: string): Promise<void> {
    const removed = this.#options.stored.remove(id)
    this.#pending.set(id, removed.catch(() => {}).finally(() => this.#pending.delete(id)))
    await removed
  }

  // The caller is compared before the session is taken from the node that has it.
  async #compareAndRestore (id: string, principal: string | undefined, view: string | undefined): Promise<void> {
    const record = await this.#options.stored.load(id)
    if (record !== undefined && record.principal === principal && record.view === view) await this.restore(id)
  }

  async #adopt (id: string): Promise<void> {
    const { stored, reserve, serve } = this.#options
    reserve()
    this.#adopting++
    try {
      const record = await stored.adopt(id)
      if (record !== undefined) await serve(id, record)
    } finally {
      this.#adopting--
    }
  }
}
