import type { Call } from '../dispatch/call.js'
import type { Peer } from '../peer/peer.js'
import { sessionOf } from '../sessions/session.js'
import type { ClientNames } from './client-names.js'
import type { Row } from './row.js'

/** The most rows of a table. */
const MOST = 200

interface Activity { readonly key: string, lastCallAt: number | undefined, client: string | undefined }

/** The clients that are connected or have a session, and when they called last. */
export class ConnectedClients {
  readonly #peers: Iterable<Peer>
  readonly #names: ClientNames
  readonly #activities = new WeakMap<Peer, Activity>()
  #lastKey = 0
  /** The last one that was looked up: most often it is the next one, too. */
  #last: { peer: Peer, activity: Activity } | undefined

  constructor (peers: Iterable<Peer>, names: ClientNames) {
    this.#peers = peers
    this.#names = names
  }

  /** A call is in flight or has ended; `name` is the name of its client. One that stands for itself has no client that stays. */
  note ({ peer, response: { startedAt } }: Call, name: string | undefined): void {
    if (peer.connectedAt === undefined) return
    const activity = this.#activityOf(peer)
    if (startedAt < (activity.lastCallAt ?? 0)) return
    activity.lastCallAt = startedAt
    if (peer.client === undefined) activity.client = name
  }

  /** Of more than 200 those that called last; `epoch` is the time at which the monotonic clock was 0. */
  table (epoch: number): { total: number, sessions: number, rows: Row[] } {
    // One that has left is not kept.
    this.#last = undefined
    const connected = [...this.#peers].filter(peer => peer.connectedAt !== undefined)
    const sessions = connected.filter(peer => sessionOf(peer) !== undefined).length
    const shown = connected.length <= MOST ? connected : connected.sort((one, other) => this.#lastSeen(other) - this.#lastSeen(one)).slice(0, MOST)
    return { total: connected.length, sessions, rows: shown.map(peer => ({ json: this.#json(peer, epoch), peer })) }
  }

  #lastSeen (peer: Peer): number {
    return this.#activities.get(peer)?.lastCallAt ?? sessionOf(peer)?.lastSeen ?? 0
  }

  #json (peer: Peer, epoch: number): string {
    const { key, lastCallAt, client } = this.#activityOf(peer)
    const { principal, transport, revision, lastRevision, connectedAt: since, inbound: { size: inFlight } } = peer
    return JSON.stringify({
      key,
      client: this.#names.of(peer.client) ?? client,
      principal,
      transport,
      revision: (lastRevision ?? revision)?.version,
      session: sessionOf(peer) !== undefined,
      since,
      inFlight,
      lastCallAt: lastCallAt === undefined ? undefined : Math.round(epoch + lastCallAt)
    })
  }

  #activityOf (peer: Peer): Activity {
    if (this.#last?.peer === peer) return this.#last.activity
    const activity = this.#activities.get(peer) ?? { key: `p${++this.#lastKey}`, lastCallAt: undefined, client: undefined }
    this.#activities.set(peer, activity)
    this.#last = { peer, activity }
    return activity
  }
}
