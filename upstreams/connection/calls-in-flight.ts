import { now } from '../../lib/time.js'
import type { OutgoingRequests, RequestOptions } from '../../protocol/peer/outgoing-requests.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Id, Params } from '../../protocol/wire/jsonrpc.js'
import type { RelayedCall } from '../ports.js'

interface Abandoned { readonly principal: string | undefined | typeof UNKNOWN, readonly until: number }

/** A request, and the call of a client that it serves; none for one of the gateway's own. */
export interface CallOptions extends RequestOptions { readonly call?: RelayedCall | undefined }

/** The caller of a cancelled call that is not remembered. */
const UNKNOWN = Symbol('unknown caller')
/** How long a server may go on with a call that was cancelled, and ask or log for it, in milliseconds. */
const ABANDONED_FOR = 10_000
/** The most cancelled calls whose callers are remembered; further ones count as calls of a caller who is not known. */
const MAX_ABANDONED = 1_000

/**
 * The calls of clients that one upstream has not answered yet, oldest first, and to which of them a message of the
 * upstream belongs. A message says nothing about that itself, unless it came on the stream of one call.
 */
export class CallsInFlight {
  readonly #requests: Pick<OutgoingRequests<CallOptions>, 'all'>
  /** In the order in which they were cancelled. */
  readonly #abandoned = new Map<Id, Abandoned>()

  constructor (requests: Pick<OutgoingRequests<CallOptions>, 'all'>) {
    this.#requests = requests
  }

  get size (): number {
    return this.#candidates(undefined).length
  }

  /**
   * The call was cancelled and not answered. The upstream may work on it for a while: what it then asks must not reach
   * another caller.
   */
  abandon (id: Id, call: RelayedCall): void {
    this.#forgetAbandoned()
    const principal = this.#abandoned.size < MAX_ABANDONED ? call.principal : UNKNOWN
    // Further ones share one place, which the latest of them renews.
    const place = principal === UNKNOWN ? '' : id
    this.#abandoned.delete(place)
    this.#abandoned.set(place, { principal, until: now() + ABANDONED_FOR })
  }

  /** The upstream has answered a call after all that was cancelled; false when there is no such call. */
  answeredLate (id: Id): boolean {
    return this.#abandoned.delete(id)
  }

  /**
   * The call whose client has to answer this: of several the latest whose request waits. `ambiguous` when several
   * clients could be meant: the answer of one must not serve another. `away` when several calls could be meant, and all
   * are parked until their client comes back. A parked call was asked already and waits for its answer, so a client
   * that is away keeps no other client of its principal from being asked.
   */
  findAsked (method: string, params: Params, on: Channel | undefined): RelayedCall | 'ambiguous' | 'away' | undefined {
    const candidates = this.#candidates(on)
    if (candidates.length < 2) {
      return on === undefined && !this.#areOfOneClient(candidates) ? 'ambiguous' : candidates[0]
    }
    const waiting = candidates.filter(({ isWaiting }) => isWaiting).reverse()
    if (!this.#areOfOnePrincipal(candidates) || !this.#areOfOneClient(waiting)) return 'ambiguous'
    return waiting.find(call => call.canAsk(method, params)) ?? waiting[0] ?? 'away'
  }

  /** The call that a log message belongs to; undefined when it cannot be known. */
  findLogging (on: Channel | undefined): RelayedCall | undefined {
    const candidates = this.#candidates(on)
    return on === undefined && !this.#areOfOneClient(candidates) ? undefined : candidates[0]
  }

  #candidates (on: Channel | undefined): RelayedCall[] {
    return this.#requests
      .all()
      .flatMap(({ channel, options: { call } }) =>
        call === undefined || (on !== undefined && channel !== on) ? [] : [call]
      )
  }

  #areOfOnePrincipal (calls: readonly RelayedCall[]): boolean {
    return calls.every(({ principal }) => principal === calls[0]?.principal)
  }

  /**
   * True when no call of these is of another client than the first, and none that was cancelled a moment ago of another
   * principal.
   */
  #areOfOneClient (calls: readonly RelayedCall[]): boolean {
    const [first] = calls
    if (first === undefined) return true
    this.#forgetAbandoned()
    return this.#areOfOnePrincipal(calls) && calls.every(({ client }) => client === first.client) &&
      [...this.#abandoned.values()].every(({ principal }) => principal === first.principal)
  }

  #forgetAbandoned (): void {
    const moment = now()
    for (const [id, { until }] of this.#abandoned) {
      if (until > moment) break
      this.#abandoned.delete(id)
    }
  }
}
