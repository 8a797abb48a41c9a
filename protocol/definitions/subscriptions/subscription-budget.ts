import { errors } from '../../wire/errors.js'
import type { Peer } from '../../peer/peer.js'

export interface SubscriptionLimits { maxSubscriptions: number, maxSubscriptionText: number }

interface Used { count: number, text: number }

const UNUSED: Used = { count: 0, text: 0 }

/** How many resources each peer watches through `subscriptions/listen`, and how many characters their URIs have. */
export class SubscriptionBudget {
  readonly #limits: SubscriptionLimits
  readonly #used = new WeakMap<Peer, Used>()

  constructor (limits: SubscriptionLimits) {
    this.#limits = limits
  }

  /** Throws when the peer would have too many. Returns how to release them. */
  take (peer: Peer, uris: string[]): () => void {
    const { maxSubscriptions, maxSubscriptionText } = this.#limits
    const used = this.#used.get(peer) ?? UNUSED
    const count = uris.length
    const text = uris.reduce((sum, { length }) => sum + length, 0)
    if (count > 0 && count + used.count + peer.subscriptions.size > maxSubscriptions) {
      throw errors.tooManySubscriptions(maxSubscriptions)
    }
    if (text > 0 && text + used.text + peer.subscriptionTextLength > maxSubscriptionText) {
      throw errors.tooLongSubscriptions(maxSubscriptionText)
    }
    this.#used.set(peer, { count: used.count + count, text: used.text + text })
    return () => {
      const now = this.#used.get(peer) ?? UNUSED
      this.#used.set(peer, { count: now.count - count, text: now.text - text })
    }
  }
}
