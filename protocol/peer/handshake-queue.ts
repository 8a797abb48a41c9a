import type { Id, Incoming } from '../wire/jsonrpc.js'
import type { InFlight } from './in-flight.js'

/** How many bytes may wait for the answer to `initialize`, unless it is one message alone. */
const MAX_BYTES = 1024 * 1024

/** Messages of one peer that came while its `initialize` is being answered, as functions that receive them. */
export class HandshakeQueue {
  readonly #messages: Array<() => void> = []
  #bytes = 0

  /** False when there are more than `max`, or too many bytes. */
  add (receive: () => void, incoming: Incoming, max: number): boolean {
    const { length } = this.#messages
    const bytes = this.#bytes + sizeOf(incoming)
    if (length >= max || (length > 0 && bytes > MAX_BYTES)) return false
    this.#bytes = bytes
    return this.#messages.push(receive) > 0
  }

  /** Receives the messages, in the order they came. */
  flush (): void {
    for (const receive of this.#messages) receive()
  }
}

/**
 * False for a response, and for the cancellation of a call in flight: they belong to what was sent before `initialize`.
 */
export function mustQueue (incoming: Incoming, inbound: Pick<InFlight, 'has'>): boolean {
  if (incoming.kind === 'response') return false
  return (
    incoming.kind !== 'notification' ||
    incoming.method !== 'notifications/cancelled' ||
    !inbound.has(incoming.params['requestId'] as Id)
  )
}

function sizeOf (incoming: Incoming): number {
  if (incoming.kind === 'batch') return incoming.messages.reduce((sum, message) => sum + sizeOf(message), 0)
  return 'size' in incoming ? incoming.size ?? 0 : 0
}
