import type { Notification, Params } from '../wire/jsonrpc.js'
import type { Peer } from '../peer/peer.js'
import { lazily, type Check, type Schema, type Typed } from '../schema/schema.js'

export type Listener<P = Params> = (params: P, peer: Peer) => void

/** Who hears what clients tell without wanting an answer. */
export class Notifications {
  readonly #listeners = new Map<string, { check: Check, dispatch: Listener }>()
  readonly #report: (error: unknown, method: string) => void

  /** `report` hears of listeners that fail. */
  constructor (report: (error: unknown, method: string) => void = () => {}) {
    this.#report = report
  }

  on<S extends Schema> (name: string, schema: S, hear: Listener<Typed<S>>): void {
    if (this.#listeners.has(name)) throw new Error(`notification ${name} is registered already`)
    this.#listeners.set(name, { check: lazily(schema), dispatch: hear as Listener })
  }

  /** What does not fit the schema is ignored, as is what has no listener. Never throws. */
  hear ({ method, params }: Notification, peer: Peer): void {
    const listener = this.#listeners.get(method)
    try {
      if (listener?.check(params) === undefined) listener?.dispatch(params, peer)
    } catch (error) {
      this.#report(error, method)
    }
  }
}
