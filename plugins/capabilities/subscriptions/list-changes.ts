import type { Peer } from '../../../protocol/peer/peer.js'
import { encodeNotification } from '../../../protocol/wire/jsonrpc.js'
import type { Audience, ListeningCalls } from './listening-calls.js'

/** The changes of lists in one turn: many of one list are one notification, for all clients that they concern. */
export class ListChanges {
  readonly #clients: { readonly peers: Iterable<Peer> }
  readonly #listening: ListeningCalls
  readonly #audiences = new Map<string, Set<Audience>>()

  constructor (clients: { readonly peers: Iterable<Peer> }, listening: ListeningCalls) {
    this.#clients = clients
    this.#listening = listening
  }

  add (method: string, audience: Audience): void {
    const audiences = this.#audiences.get(method)
    if (audiences !== undefined) {
      audiences.add(audience)
      return
    }
    this.#audiences.set(method, new Set([audience]))
    setImmediate(() => this.#announce(method))
  }

  #announce (method: string): void {
    const text = encodeNotification(method)
    const audience = anyOf([...this.#audiences.get(method) ?? []])
    this.#audiences.delete(method)
    for (const { revision, channel, identity, view } of this.#clients.peers) {
      if (revision !== undefined && audience(identity, view)) channel?.emit(text, method)
    }
    this.#listening.listChanged(method, audience)
  }
}

const anyOf = (audiences: Audience[]): Audience =>
  (identity, view) => audiences.some(audience => audience(identity, view))
