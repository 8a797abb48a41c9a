import type { Channel } from '../../protocol/wire/channel.js'
import type { Id, Params } from '../../protocol/wire/jsonrpc.js'
import type { RelayedCall } from '../ports.js'

interface InFlight { readonly call: RelayedCall, readonly channel: Channel }

/**
 * The calls of clients that one upstream has not answered yet, oldest first, and to which of them a message of the upstream belongs.
 * A message says nothing about that itself, unless it came on the stream of one call.
 */
export class CallsInFlight {
  readonly #calls = new Map<Id, InFlight>()
  #onEmpty: (() => void) | undefined

  get size (): number {
    return this.#calls.size
  }

  /** Settles when there are none. */
  async empty (): Promise<void> {
    if (this.size > 0) await new Promise<void>(resolve => { this.#onEmpty = resolve })
  }

  add (id: Id, call: RelayedCall, channel: Channel): void {
    this.#calls.set(id, { call, channel })
  }

  remove (id: Id): void {
    if (this.#calls.delete(id) && this.#calls.size === 0) this.#onEmpty?.()
  }

  /** The call whose client has to answer this. `ambiguous` when several clients could be meant: the answer of one must not serve another. */
  asked (method: string, params: Params, on: Channel | undefined): RelayedCall | 'ambiguous' | undefined {
    const candidates = this.#candidates(on)
    if (candidates === 'ambiguous') return candidates
    return candidates.find(call => call.canAsk(method, params)) ?? candidates[0]
  }

  /** The call that a log message belongs to; undefined when it cannot be known. */
  logged (on: Channel | undefined): RelayedCall | undefined {
    const candidates = this.#candidates(on)
    return candidates === 'ambiguous' ? undefined : candidates[0]
  }

  #candidates (on: Channel | undefined): RelayedCall[] | 'ambiguous' {
    const all = [...this.#calls.values()]
    if (on !== undefined) return all.filter(({ channel }) => channel === on).map(({ call }) => call)
    const calls = all.map(({ call }) => call)
    return calls.every(call => call.client === calls[0]?.client && call.principal === calls[0].principal) ? calls : 'ambiguous'
  }
}
