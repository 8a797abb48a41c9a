import type { Interest } from './interest.js'
import type { Peer } from './peer.js'

/** Which peers want to hear of which URI. They are forgotten when they go. */
export class Subscribers {
  readonly #interest: Interest
  readonly #peers = new Map<string, Map<Peer, () => void>>()

  constructor (interest: Interest) {
    this.#interest = interest
  }

  of (uri: string): Iterable<Peer> {
    return this.#peers.get(uri)?.keys() ?? []
  }

  /** False when there is nothing to hear of. A peer that is taken back, or goes, while we find out is not added. */
  async add (uri: string, peer: Peer): Promise<boolean> {
    const peers = this.#peers.get(uri) ?? new Map<Peer, () => void>()
    if (peers.has(peer)) return true
    let lose: (() => void) | undefined
    const off = peer.onClose(() => this.remove(uri, peer))
    const forget = () => { off(); lose?.() }
    this.#peers.set(uri, peers.set(peer, forget))
    peer.subscribed(uri, true)
    try {
      lose = await this.#interest.begin(uri)
    } finally {
      if (lose === undefined && peers.get(peer) === forget) this.remove(uri, peer)
    }
    if (lose === undefined) return false
    if (peers.get(peer) !== forget) lose()
    return true
  }

  remove (uri: string, peer: Peer): void {
    const peers = this.#peers.get(uri)
    const forget = peers?.get(peer)
    if (peers === undefined || forget === undefined) return
    peers.delete(peer)
    if (peers.size === 0) this.#peers.delete(uri)
    forget()
    // What a peer is subscribed to when it goes is what its session remembers.
    if (!peer.closed) peer.subscribed(uri, false)
  }
}
