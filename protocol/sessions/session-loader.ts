import type { Inquiries } from '../nodes/inquiries.js'
import type { Nodes } from '../nodes/nodes.js'
import type { Peer } from '../peer/peer.js'
import type { PeerOptions } from '../peer/peer-options.js'
import type { SessionStore, StoredSession } from '../store.js'
import type { Notification, Response } from '../wire/jsonrpc.js'
import { Session } from './session.js'

export interface LoaderPorts {
  store: SessionStore
  nodes: Nodes
  inquiries: Inquiries
  /** Subscribes a peer to a resource again, or ends that, because it is stored so. */
  subscribe: (uri: string, peer: Peer) => Promise<void>
  unsubscribe: (uri: string, peer: Peer) => void
  /** Passes on what a client sent about a request that is not here. */
  forward: (session: Session, message: Response | Notification) => void
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
    const isHome = await this.#becomeHome(id, home)
    const session = this.#connect(Session.from(record, { ...this.#options, id, peer: this.#idPrefix }))
    session.isHome = isHome
    session.home = home
    for (const uri of record.subscriptions) session.peer.setSubscribed(uri, true)
    session.peer.takeChanges()
    return session
  }

  /** Takes over what another node has stored of a session. */
  async refresh (session: Session, { record, home }: StoredSession): Promise<void> {
    const { peer } = session
    session.isHome = home === this.#ports.nodes.self
    session.home = home
    const wanted = new Set(record.subscriptions)
    session.apply(record)
    for (const uri of [...peer.subscriptions]) if (!wanted.has(uri)) this.#unsubscribe(uri, peer)
    for (const uri of wanted) peer.setSubscribed(uri, true)
    peer.takeChanges()
    await this.subscribe(session)
  }

  /** Subscribes to the resources of a session of which this node is the home. */
  async subscribe ({ isHome, peer }: Session): Promise<void> {
    const { subscribe, onTrouble } = this.#ports
    for (const uri of isHome ? [...peer.subscriptions] : []) {
      // The client may have unsubscribed meanwhile.
      if (peer.subscriptions.has(uri)) await subscribe(uri, peer).catch(onTrouble)
    }
  }

  #connect (session: Session): Session {
    const { nodes, forward } = this.#ports
    if (nodes.self !== undefined) session.peer.forward = message => forward(session, message)
    return session
  }

  #unsubscribe (uri: string, peer: Peer): void {
    this.#ports.unsubscribe(uri, peer)
    peer.setSubscribed(uri, false)
  }

  /** Makes the home of a session know what has changed in it, so that it announces accordingly from now on. */
  async informHome (session: Session): Promise<void> {
    const { nodes, inquiries, store } = this.#ports
    const { id, home } = session
    if (session.isHome || home === undefined) return
    const answer = await inquiries.ask(home, { kind: 'refresh', session: id })
    const hasLeft = answer === false || (answer === undefined && !await nodes.isAlive(home))
    if (!hasLeft || !await store.moveHome(id, home)) return
    session.isHome = true
    await this.subscribe(session)
  }

  async #becomeHome (id: string, home: string | undefined): Promise<boolean> {
    const { store, nodes } = this.#ports
    if (home === nodes.self) return true
    return (home === undefined || !await nodes.isAlive(home)) && await store.moveHome(id, home)
  }

  get #options () {
    const { store, onTrouble } = this.#ports
    return { store, onTrouble, onHome: (session: Session) => { void this.subscribe(session) } }
  }

  /** The ids of our requests to clients name the node that waits for the answer. */
  get #idPrefix (): Pick<PeerOptions, 'requestIdPrefix'> {
    const { self } = this.#ports.nodes
    return self === undefined ? {} : { requestIdPrefix: `${self}-` }
  }
}
