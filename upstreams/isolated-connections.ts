import { Peer } from '../protocol/peer/peer.js'
import type { OpenConnection } from './connection/connection.js'
import type { IsolationKey } from './isolation.js'
import type { Supervisor } from './supervision/supervisor.js'

type Key = Exclude<IsolationKey, undefined>

export interface IsolatedOptions {
  readonly max: number
  readonly create: () => Supervisor<OpenConnection>
  /** Makes the error for a caller for whom no connection is left. */
  readonly refuse: (why: string) => Error
}

/** The connections of one upstream that callers do not share, by who uses them. */
export class IsolatedConnections {
  readonly #options: IsolatedOptions
  /** In the order in which they were last used. */
  readonly #all = new Map<Key, Supervisor<OpenConnection>>()

  constructor (options: IsolatedOptions) {
    this.#options = options
  }

  /** Rejects when all that may be open are in use. */
  async get (key: Key, signal: AbortSignal): Promise<OpenConnection> {
    const supervisor = this.#all.get(key) ?? this.#add(key)
    this.#all.delete(key)
    this.#all.set(key, supervisor)
    return await supervisor.get(signal)
  }

  /** Settles when no caller waits for a start any more; never rejects. */
  async awaited (): Promise<void> {
    await Promise.all([...this.#all.values()].map(async supervisor => await supervisor.awaited()))
  }

  connections (): OpenConnection[] {
    return [...this.#all.values()].flatMap(({ connection }) => connection ?? [])
  }

  async close (): Promise<void> {
    const all = [...this.#all.values()]
    this.#all.clear()
    await Promise.all(all.map(async supervisor => await supervisor.close()))
  }

  #add (key: Key): Supervisor<OpenConnection> {
    const { max, create, refuse } = this.#options
    if (this.#all.size >= max && !this.#removeUnused()) {
      throw refuse(`${max} callers use connections of their own already (option maxUpstreamConnections)`)
    }
    const supervisor = create()
    this.#all.set(key, supervisor)
    if (key instanceof Peer) key.onClose(() => this.#remove(key))
    return supervisor
  }

  /** Ends the one that was not used for the longest time; false when all are in use. */
  #removeUnused (): boolean {
    for (const [key, { connection, state }] of this.#all) {
      if (state === 'starting' || (connection?.callsInFlight ?? 0) > 0) continue
      this.#remove(key)
      return true
    }
    return false
  }

  #remove (key: Key): void {
    const supervisor = this.#all.get(key)
    this.#all.delete(key)
    void supervisor?.close()
  }
}
