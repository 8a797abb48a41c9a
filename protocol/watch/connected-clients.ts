import type { Peer } from '../peer/peer.js'
import { sessionOf } from '../sessions/session.js'
import type { Activities } from './activities.js'
import type { ClientRow, Unwritten } from './batch.js'
import type { ClientNames } from './client-names.js'
import type { Row } from './row.js'

/** The most rows of a table. */
const MOST = 200

/** The clients that are connected or have a session, and when they called last. */
export class ConnectedClients {
  readonly #peers: Iterable<Peer>
  readonly #activities: Activities
  readonly #names: ClientNames

  constructor (peers: Iterable<Peer>, activities: Activities, names: ClientNames) {
    this.#peers = peers
    this.#activities = activities
    this.#names = names
  }

  /** Of more than 200 those that called last; `epoch` is the time at which the monotonic clock was 0. */
  table (epoch: number): { total: number, sessions: number, rows: Row[] } {
    const connected = [...this.#peers].filter(peer => peer.connectedAt !== undefined)
    const sessions = connected.filter(peer => sessionOf(peer) !== undefined).length
    const shown =
      connected.length <= MOST
        ? connected
        : connected.sort((one, other) => this.#lastSeen(other) - this.#lastSeen(one)).slice(0, MOST)
    return {
      total: connected.length,
      sessions,
      rows: shown.map(peer => ({ json: this.#json(peer, epoch), owner: this.#activities.of(peer) }))
    }
  }

  #lastSeen (peer: Peer): number {
    return this.#activities.of(peer).lastCallAt ?? sessionOf(peer)?.lastSeen ?? 0
  }

  #json (peer: Peer, epoch: number): string {
    const { key, lastCallAt, client } = this.#activities.of(peer)
    const { principal, transport, revision, lastRevision, connectedAt: since = 0, inbound: { size: inFlight } } = peer
    const row: Unwritten<Omit<ClientRow, 'own'>> = {
      key,
      client: this.#names.of(peer.client) ?? client,
      principal,
      transport,
      revision: (lastRevision ?? revision)?.version,
      session: sessionOf(peer) !== undefined,
      since,
      inFlight,
      lastCallAt: lastCallAt === undefined ? undefined : Math.round(epoch + lastCallAt)
    }
    return JSON.stringify(row)
  }
}
