import type { Call } from './call.js'
import type { Incoming } from './jsonrpc.js'

/** How many messages may wait for the handshake before them. */
const MAX_HELD = 64
/** How many bytes they may take together, unless it is one alone. */
const MAX_BYTES = 1024 * 1024

/** Messages of one peer that wait for the handshake before them, as functions that receive them. */
export class Held {
  readonly #messages: Array<() => void> = []
  #bytes = 0

  /** What the peer sends from now on counts as sent after the handshake, however long a gate or middleware takes over that. */
  static behind ({ peer, finished }: Call): void {
    const held = peer.held = new Held()
    void finished.then(() => {
      peer.held = undefined
      for (const receive of held.#messages) receive()
    })
  }

  /** False when there are too many. */
  add (receive: () => void, incoming: Incoming): boolean {
    const { length } = this.#messages
    this.#bytes += sizeOf(incoming)
    return length < MAX_HELD && (length === 0 || this.#bytes <= MAX_BYTES) && this.#messages.push(receive) > 0
  }
}

function sizeOf (incoming: Incoming): number {
  if (incoming.kind === 'batch') return incoming.messages.reduce((sum, message) => sum + sizeOf(message), 0)
  return incoming.kind === 'request' ? incoming.size : 0
}
