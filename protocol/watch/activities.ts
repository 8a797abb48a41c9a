import type { Call } from '../dispatch/call.js'
import type { Peer } from '../peer/peer.js'

/** The memory of a client that is connected or has a session; it does not hold its peer. */
export interface Activity {
  readonly key: string
  /** When its latest call came, on the monotonic clock. */
  lastCallAt: number | undefined
  /** The name in its latest call, for one that sent none before. */
  client: string | undefined
}

/** When each client called last. */
export class Activities {
  readonly #known = new WeakMap<Peer, Activity>()
  #lastKey = 0

  /**
   * A call is in flight or has ended; `name` is the name of its client. Undefined for a request that stands for itself,
   * whose client does not stay.
   */
  note ({ peer, response: { startedAt } }: Call, name: string | undefined): Activity | undefined {
    if (peer.connectedAt === undefined) return undefined
    const activity = this.of(peer)
    if (startedAt < (activity.lastCallAt ?? 0)) return activity
    activity.lastCallAt = startedAt
    if (peer.client === undefined) activity.client = name
    return activity
  }

  of (peer: Peer): Activity {
    const known = this.#known.get(peer)
    if (known !== undefined) return known
    const activity = { key: `p${++this.#lastKey}`, lastCallAt: undefined, client: undefined }
    this.#known.set(peer, activity)
    return activity
  }
}
