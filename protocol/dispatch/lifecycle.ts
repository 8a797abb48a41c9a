import { Listeners } from '../../lib/listeners.js'
import { RecycledSet } from '../../lib/recycled.js'
import { withTimeout } from '../../lib/time.js'
import type { Peer } from '../peer/peer.js'
import type { Observers } from './observers.js'

/** The connected peers, from `connect` to `disconnect`, and the end of all of them at shutdown. */
export class Lifecycle {
  readonly peers = new RecycledSet<Peer>()
  readonly #observers: Observers
  readonly #drainListeners: Listeners<[]>
  readonly #grace: number
  readonly #awaited: Array<(graceMs: number) => Promise<void>> = []
  #isDraining = false

  /** `grace` is how many milliseconds calls have to finish at shutdown. */
  constructor (observers: Observers, grace: number) {
    this.#observers = observers
    this.#grace = grace
    this.#drainListeners = new Listeners(observers.reporter('onDrain'))
  }

  /** True once no calls are taken any more. */
  get isDraining (): boolean {
    return this.#isDraining
  }

  /** Makes a peer reachable for announcements and part of the orderly shutdown. */
  connect (peer: Peer): void {
    this.peers.add(peer)
    // A request that shares a connection with others is gone with its answer.
    if (peer.connection === undefined) peer.connectedAt = Date.now()
  }

  /** The other end is gone: its calls are aborted, and nothing is sent to it any more. */
  disconnect (peer: Peer, reason: Error): void {
    this.peers.delete(peer)
    if (peer.initialized && !peer.closed) this.#observers.disconnect.notify(peer)
    peer.close(reason, this.#observers.reportPeerListener)
  }

  /** Runs once, when the shutdown begins; returns how to remove the listener. */
  onDrain (listener: () => void): () => void {
    return this.#drainListeners.add(listener)
  }

  /**
   * Makes `drain` wait for something else than the calls of peers, for at most the grace period, which `finished` gets;
   * the promise does not reject.
   */
  awaitAtDrain (finished: (graceMs: number) => Promise<void>): void {
    this.#awaited.push(finished)
  }

  /** Stops taking calls and waits until those of every peer are answered, for at most the grace period. */
  async drain (atMostMs = Infinity): Promise<void> {
    this.#isDraining = true
    this.#drainListeners.notify()
    this.#drainListeners.clear()
    const grace = Math.min(this.#grace, atMostMs)
    const others = Promise.all(this.#awaited.map(async finished => await finished(grace)))
    await Promise.all([
      withTimeout(others, grace, () => []),
      ...[...this.peers].map(peer => peer.drain(grace, this.#observers.reportPeerListener))
    ])
  }
}
