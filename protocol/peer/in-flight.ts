import type { McpError } from '../wire/errors.js'
import type { Id } from '../wire/jsonrpc.js'

/** One call in flight, as its peer knows it. */
export interface InFlightCall {
  readonly id: Id
  readonly method: string
  /** About how many bytes it holds until it is answered. */
  readonly size: number
  /** Settles when the call is answered or given up. */
  readonly finished: Promise<void>
  cancel (reason: Error): void
  giveUp (error: McpError): void
}

/** After how many additions the map is copied, if it does not hold half as many. */
const RENEWAL = 64

/**
 * The calls of one peer that are not answered yet, by id. Most peers have one at a time, which needs no Map. A Map is
 * copied now and then, for the reason that lib/recycled.ts gives: V8 would keep answered calls reachable through its
 * outgrown hash tables.
 */
export class InFlight {
  #one: InFlightCall | undefined
  #more: Map<Id, InFlightCall> | undefined
  #added = 0
  #bytes = 0

  /** About how many bytes they hold. */
  get bytes (): number {
    return this.#bytes
  }

  get size (): number {
    return (this.#one === undefined ? 0 : 1) + (this.#more?.size ?? 0)
  }

  has (id: Id): boolean {
    return this.get(id) !== undefined
  }

  get (id: Id): InFlightCall | undefined {
    return this.#one?.id === id ? this.#one : this.#more?.get(id)
  }

  /** A copy, in no particular order. */
  all (): InFlightCall[] {
    return [...(this.#one === undefined ? [] : [this.#one]), ...(this.#more?.values() ?? [])]
  }

  /** Its id must not be in use. */
  add (call: InFlightCall): void {
    this.#bytes += call.size
    if (this.#one === undefined) this.#one = call
    else this.#addMore(call)
  }

  /** Does nothing where another call has this id. */
  remove (call: InFlightCall): void {
    if (this.#one === call) this.#one = undefined
    else if (this.#more?.get(call.id) === call) this.#more.delete(call.id)
    else return
    this.#bytes -= call.size
  }

  #addMore (call: InFlightCall): void {
    if (this.#more === undefined || ++this.#added > Math.max(RENEWAL, 2 * this.#more.size)) {
      this.#more = new Map(this.#more)
      this.#added = 0
    }
    this.#more.set(call.id, call)
  }
}
