import type { WatchCount } from './watch-count.js'
import type { Peer } from '../../peer/peer.js'

interface Subscription { forget: () => void, found: Promise<boolean> }

/** The peers that are subscribed to each URI. A peer is removed when it closes. */
export class Subscribers {
  readonly #watches: WatchCount
  readonly #peers = new Map<string, Map<Peer, Subscription>>()

  constructor (watches: WatchCount) {
    this.#watches = watches
  }

  of (uri: string): Iterable<Peer> {
    return this.#peers.get(uri)?.keys() ?? []
  }

  /** False when the URI cannot be watched. A peer that unsubscribes or closes while that is found out is not added. */
  async add (uri: string, peer: Peer): Promise<boolean> {
    if (peer.closed) return false
    return await (this.#peers.get(uri)?.get(peer) ?? this.#begin(uri, peer)).found
  }

  remove (uri: string, peer: Peer): void {
    const peers = this.#peers.get(uri)
    peers?.get(peer)?.forget()
    peers?.delete(peer)
    if (peers?.size === 0) this.#peers.delete(uri)
    // Another node may be the one that watches it. A closed peer keeps its subscriptions, because they are stored with
    // its session.
    if (!peer.closed && peer.subscriptions.has(uri)) peer.setSubscribed(uri, false)
  }

  removeAll (peer: Peer): void {
    for (const uri of [...peer.subscriptions]) this.remove(uri, peer)
  }

  #begin (uri: string, peer: Peer): Subscription {
    const peers = this.#peers.get(uri) ?? new Map<Peer, Subscription>()
    const off = peer.onClose(() => this.remove(uri, peer))
    let release: (() => void) | undefined
    const find = async (): Promise<boolean> => {
      try {
        release = await this.#watches.acquire(uri, peer.identity)
        return release !== undefined
      } finally {
        if (release === undefined && peers.get(peer) === subscription) this.remove(uri, peer)
        if (peers.get(peer) !== subscription) release?.()
      }
    }
    const subscription: Subscription = { forget: () => { off(); release?.() }, found: Promise.resolve(false) }
    this.#peers.set(uri, peers.set(peer, subscription))
    peer.setSubscribed(uri, true)
    subscription.found = find()
    return subscription
  }
}
