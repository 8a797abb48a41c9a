import type { Call } from './call.js'

/** How many messages may wait for the handshake before them. */
const MAX_HELD = 64

/** Messages of one peer that wait for the handshake before them, as functions that receive them. */
export class Held {
  readonly #messages: Array<() => void> = []

  /** What the peer sends from now on counts as sent after the handshake, however long a gate or middleware takes over that. */
  static behind ({ peer, finished }: Call): void {
    const held = peer.held = new Held()
    void finished.then(() => {
      peer.held = undefined
      for (const receive of held.#messages) receive()
    })
  }

  /** False when there are too many. */
  add (receive: () => void): boolean {
    return this.#messages.length < MAX_HELD && this.#messages.push(receive) > 0
  }
}
