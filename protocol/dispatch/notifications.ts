import type { Peer } from '../peer/peer.js'
import { lazily, type Check, type Schema, type Typed } from '../schema/schema.js'
import type { Notification, Params } from '../wire/jsonrpc.js'

export type Listener<P = Params> = (params: P, peer: Peer) => void

/** The listeners to notifications of clients, by method. */
export class Notifications {
  readonly #listeners = new Map<string, { check: Check, listener: Listener }>()
  readonly #report: (error: unknown, method: string) => void

  /** `report` gets what a listener throws. */
  constructor (report: (error: unknown, method: string) => void = () => {}) {
    this.#report = report
  }

  /** Returns a function that removes it. */
  on<S extends Schema> (name: string, schema: S, listener: Listener<Typed<S>>): () => void {
    if (this.#listeners.has(name)) throw new Error(`notification ${name} is registered already`)
    const added = { check: lazily(schema), listener: listener as Listener }
    this.#listeners.set(name, added)
    return () => { if (this.#listeners.get(name) === added) this.#listeners.delete(name) }
  }

  /** Ignores a notification that has no listener, or does not fit its schema. Never throws. */
  dispatch ({ method, params }: Notification, peer: Peer): void {
    const found = this.#listeners.get(method)
    try {
      if (found?.check(params) === undefined) found?.listener(params, peer)
    } catch (error) {
      this.#report(error, method)
    }
  }
}
