import type { Call } from '../dispatch/call.js'
import type { Id, Incoming } from '../wire/jsonrpc.js'
import type { Peer } from './peer.js'

/** How many bytes may wait for the handshake before them, unless it is one message alone. */
const MAX_BYTES = 1024 * 1024

/** Messages of one peer that wait for the handshake before them, as functions that receive them. */
export class HandshakeQueue {
  readonly #messages: Array<() => void> = []
  #bytes = 0

  /** What the peer sends from now on counts as sent after the handshake, however long a gate or middleware takes over that. */
  static waitFor ({ peer, finished }: Call): void {
    const queue = peer.handshakeQueue = new HandshakeQueue()
    void finished.then(() => {
      peer.handshakeQueue = undefined
      for (const receive of queue.#messages) receive()
    })
  }

  /** True for what has to wait: an answer, and the cancellation of a call in flight, belong to what was sent before. */
  static mustWait (incoming: Incoming, { inbound }: Peer): boolean {
    if (incoming.kind === 'response') return false
    return incoming.kind !== 'notification' || incoming.method !== 'notifications/cancelled' || !inbound.has(incoming.params['requestId'] as Id)
  }

  /** False when there are more than `max`, or too many bytes. */
  add (receive: () => void, incoming: Incoming, max: number): boolean {
    const { length } = this.#messages
    const bytes = this.#bytes + sizeOf(incoming)
    if (length >= max || (length > 0 && bytes > MAX_BYTES)) return false
    this.#bytes = bytes
    return this.#messages.push(receive) > 0
  }
}

function sizeOf (incoming: Incoming): number {
  if (incoming.kind === 'batch') return incoming.messages.reduce((sum, message) => sum + sizeOf(message), 0)
  return 'size' in incoming ? incoming.size ?? 0 : 0
}
