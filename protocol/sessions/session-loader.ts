import type { NodeCalls } from '../nodes/node-calls.js'
import type { Peer } from '../peer/peer.js'
import type { PeerOptions } from '../peer/peer-options.js'
import { STANDALONE, type SessionStore, type StoredSession } from '../store.js'
import { announceAnyChange, announcementsIn } from './announcements.js'
import type { Forward } from './forwarder.js'
import { Session } from './session.js'
import { sessionFrom } from './stored/stored-session.js'

/** How long a home is waited for that reads a session again, and one that hands over its announcements, for which no client waits. In milliseconds. */
const REFRESH_TIMEOUT = 500
const HANDOVER_TIMEOUT = 3_000
/** How often a home is looked up that moves meanwhile. */
const TRIES = 2

export interface LoaderPorts {
  store: SessionStore
  nodeCalls: NodeCalls
  /** True when a change of a list must not be written for every session without a client. */
  defersAnnouncements: boolean
  /** Subscribes a peer to a resource again, or ends that, because it is stored so. */
  subscribe: (uri: string, peer: Peer) => Promise<void>
  unsubscribe: (uri: string, peer: Peer) => void
  /** Passes on what a client sent about a request that is not here. */
  forward: Forward
  /** Takes errors of the store that no client gets as a response. */
  onTrouble: (error: unknown) => void
}

/** Makes sessions, new ones and those that are stored, and brings them to what other nodes have stored since. */
export class SessionLoader {
  readonly #ports: LoaderPorts

  constructor (ports: LoaderPorts) {
    this.#ports = ports
  }

  /** A new session, whose home is this node. */
  create (peer: PeerOptions, primed: boolean): Session {
    return this.#connect(new Session({ ...this.#options, peer: { ...peer, ...this.#idPrefix }, primed }))
  }

  /** A session as it is stored. This node becomes its home when that has died. */
  async load (id: string, { record, home }: StoredSession): Promise<Session> {
    const session = this.#connect(sessionFrom(record, { ...this.#options, id, peer: this.#idPrefix }))
    for (const uri of record.subscriptions) session.peer.setSubscribed(uri, true)
    session.peer.takeChanges()
    await this.#findHome(session, home)
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
    await this.#findHome(session, home)
    await this.subscribe(session)
  }

  /** Has those sessions read again before their next use whose homes have died, so that this node becomes their home. */
  async markOrphans (sessions: Iterable<Session>): Promise<void> {
    const { nodeCalls: { nodes }, onTrouble } = this.#ports
    const byHome = new Map<string, Session[]>()
    for (const session of sessions) {
      const { home, isHome } = session
      if (!isHome && home !== undefined) byHome.set(home, [...byHome.get(home) ?? [], session])
    }
    for (const [home, orphans] of byHome) {
      if (await nodes.isAlive(home).catch(error => { onTrouble(error); return true })) continue
      for (const session of orphans) session.stale = true
    }
  }

  /** Subscribes to the resources of a session of which this node is the home. */
  async subscribe ({ isHome, peer }: Session): Promise<void> {
    if (isHome) await this.#subscribeAll(peer)
  }

  async #subscribeAll (peer: Peer): Promise<void> {
    const { subscribe, onTrouble } = this.#ports
    for (const uri of [...peer.subscriptions]) {
      // The client may have unsubscribed meanwhile.
      if (peer.subscriptions.has(uri)) await subscribe(uri, peer).catch(onTrouble)
    }
  }

  #connect (session: Session): Session {
    const { nodeCalls, forward, onTrouble } = this.#ports
    if (nodeCalls.nodes.self === undefined) return session
    session.peer.forward = message => forward(session, message)
    session.onJoin = () => { void this.#subscribeAll(session.peer) }
    session.onHome = previous => { this.#takeOver(session, previous).catch(onTrouble).finally(() => session.endJoining()) }
    return session
  }

  #unsubscribe (uri: string, peer: Peer): void {
    this.#ports.unsubscribe(uri, peer)
    peer.setSubscribed(uri, false)
  }

  /** Makes the home of a session know what has changed in it, so that it announces accordingly from now on. */
  async informHome (session: Session): Promise<void> {
    const { nodeCalls, store } = this.#ports
    for (let tries = 0; tries < TRIES && !session.isHome && session.home !== undefined; tries++) {
      const { home } = session
      const { outcome, answer } = await nodeCalls.request(home, 'refresh', { session: session.id }, { timeout: REFRESH_TIMEOUT })
      if (answer === true || (outcome !== 'answered' && await nodeCalls.nodes.isAlive(home))) return
      if (await this.#moveHome(session, home)) return await this.subscribe(session)
      session.home = (await store.load(session.id))?.home
    }
  }

  // A stream that was opened here after the record was read has made this node the home.
  async #findHome (session: Session, home: string | undefined): Promise<void> {
    const { store, nodeCalls: { nodes } } = this.#ports
    session.isHome = home === nodes.self || (session.isHome && session.hasStream && await store.isReader(session.id, STANDALONE))
    session.home = session.isHome ? nodes.self : home
    if (!session.isHome && (home === undefined || !await nodes.isAlive(home))) await this.#moveHome(session, home)
  }

  /** Makes this node the home of a session whose home has left, with whatever that had not announced; false if another node was faster. */
  async #moveHome (session: Session, previous: string | undefined): Promise<boolean> {
    if (!await this.#ports.store.moveHome(session.id, previous)) return false
    session.isHome = true
    session.home = this.#ports.nodeCalls.nodes.self
    announceAnyChange(session.peer)
    return true
  }

  /** The client reads its stream here now: what the node before has not announced is announced here. */
  async #takeOver (session: Session, previous: string | undefined): Promise<void> {
    const { nodeCalls } = this.#ports
    session.home = nodeCalls.nodes.self
    await this.subscribe(session)
    if (previous === undefined) return
    const left = announcementsIn((await nodeCalls.request(previous, 'handover', { session: session.id }, { timeout: HANDOVER_TIMEOUT })).answer)
    if (left === undefined) announceAnyChange(session.peer)
    else for (const { text, method } of left) session.emit(text, method)
  }

  get #options () {
    const { store, onTrouble, defersAnnouncements } = this.#ports
    return { store, onTrouble, defersAnnouncements }
  }

  /** The ids of our requests to clients name the node that waits for the answer. */
  get #idPrefix (): Pick<PeerOptions, 'requestIdPrefix'> {
    const { self } = this.#ports.nodeCalls.nodes
    return self === undefined ? {} : { requestIdPrefix: `${self}-` }
  }
}
