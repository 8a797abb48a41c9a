import type { Peer } from '../peer/peer.js'
import type { PeerOptions } from '../peer/peer-options.js'
import type { StoredSession } from '../store.js'
import type { Forward } from './forwarder.js'
import { Session } from './session.js'
import type { SessionPorts } from './session-options.js'
import { sessionFrom } from './stored/stored-session.js'

export interface LoaderPorts extends SessionPorts {
  /** Ends the subscription of a peer to a resource, because it is stored so. */
  unsubscribe: (uri: string, peer: Peer) => void
  /** Passes on what a client sent about a request that is not here. */
  forward: Forward
}

/** Makes sessions, new ones and those that are stored, and brings them to what other nodes have stored since. */
export class SessionLoader {
  readonly #ports: LoaderPorts

  constructor (ports: LoaderPorts) {
    this.#ports = ports
  }

  /** A new session, whose home is this node. */
  create (peer: PeerOptions, primed: boolean): Session {
    return this.#connect(new Session({ ports: this.#ports, peer: { ...peer, ...this.#idPrefix }, primed }))
  }

  /** A session as it is stored. This node becomes its home when that has died. */
  async load (id: string, { record, home }: StoredSession): Promise<Session> {
    const session = this.#connect(sessionFrom(record, { ports: this.#ports, id, peer: this.#idPrefix }))
    for (const uri of record.subscriptions) session.peer.setSubscribed(uri, true)
    session.peer.takeChanges()
    await session.home.apply(home)
    return session
  }

  /** Takes over what another node has stored of a session. */
  async refresh (session: Session, { record, home }: StoredSession): Promise<void> {
    const { peer } = session
    const wanted = new Set(record.subscriptions)
    session.apply(record)
    for (const uri of [...peer.subscriptions]) if (!wanted.has(uri)) this.#unsubscribe(uri, peer)
    for (const uri of wanted) peer.setSubscribed(uri, true)
    peer.takeChanges()
    await session.home.apply(home)
    await session.home.subscribe()
  }

  /** Has sessions read again before their next use whose homes have died, so that this node becomes their home. */
  async markOrphans (sessions: Iterable<Session>): Promise<void> {
    const { nodeCalls: { nodes }, onTrouble } = this.#ports
    const byHome = new Map<string, Session[]>()
    for (const session of sessions) {
      const { elsewhere } = session.home
      if (elsewhere !== undefined) byHome.set(elsewhere, [...byHome.get(elsewhere) ?? [], session])
    }
    for (const [home, orphans] of byHome) {
      if (await nodes.isAlive(home).catch(error => { onTrouble(error); return true })) continue
      for (const session of orphans) session.stale = true
    }
  }

  #connect (session: Session): Session {
    const { nodeCalls, forward } = this.#ports
    if (nodeCalls.nodes.self !== undefined) session.peer.forward = message => forward(session, message)
    return session
  }

  #unsubscribe (uri: string, peer: Peer): void {
    this.#ports.unsubscribe(uri, peer)
    peer.setSubscribed(uri, false)
  }

  /** The ids of our requests to clients name the node that waits for the answer. */
  get #idPrefix (): Pick<PeerOptions, 'requestIdPrefix'> {
    const { self } = this.#ports.nodeCalls.nodes
    return self === undefined ? {} : { requestIdPrefix: `${self}-` }
  }
}
