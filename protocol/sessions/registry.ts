import { httpErrors } from '../http/http-errors.js'
import type { Peer } from '../peer/peer.js'
import type { PeerOptions } from '../peer/peer-options.js'
import { negotiate } from '../revisions/table.js'
import type { SessionRecord, SessionStore } from '../store.js'
import { errors, type McpError } from '../wire/errors.js'
import type { Identity } from '../wire/identity.js'
import type { Request } from '../wire/jsonrpc.js'
import { SessionRestorer } from './restorer.js'
import { Session } from './session.js'
import { SessionTable } from './session-table.js'
import { StoredSessions } from './stored-sessions.js'
import { SessionSweeper, sweepInterval } from './sweeper.js'

export interface SessionLimits { maxSessions: number, maxSessionsPerPrincipal: number, sessionIdle: number }

/** What the registry needs from its surroundings. */
export interface RegistryPorts {
  store: SessionStore
  /** Makes a peer known to the dispatcher, and unknown again. */
  connect: (peer: Peer) => void
  disconnect: (peer: Peer, reason: Error) => void
  /** Throws an HTTP error while the server is overloaded. */
  checkPressure: () => void
  /** Takes why no session can be opened, or undefined when one can. */
  reportHealth: (problem: string | undefined) => void
  /** Subscribes the peer of a restored session to a resource again. */
  resubscribe: (uri: string, peer: Peer) => Promise<void>
  /** Takes errors of the store that no client gets as a response. */
  onTrouble: (error: unknown) => void
}

/** The sessions of stateful HTTP clients that this node serves. They outlive it where the store does. */
export class SessionRegistry {
  readonly #limits: SessionLimits
  readonly #ports: RegistryPorts
  readonly #table = new SessionTable()
  readonly #stored: StoredSessions
  readonly #restorer: SessionRestorer
  readonly #sweeper: SessionSweeper
  readonly #offTaken: () => void

  constructor (limits: SessionLimits, ports: RegistryPorts) {
    const { store, onTrouble } = ports
    this.#limits = limits
    this.#ports = ports
    // Touched at every sweep, so it has to stay for one interval longer than a session may be idle.
    this.#stored = new StoredSessions(store, limits.sessionIdle + sweepInterval(limits.sessionIdle))
    this.#restorer = new SessionRestorer({
      stored: this.#stored,
      isServed: id => this.#table.get(id) !== undefined,
      reserve: () => this.#reserve(undefined),
      serve: async (id, record) => await this.#restoreSession(id, record)
    })
    this.#sweeper = new SessionSweeper({
      sessions: () => this.#table.values(),
      stored: this.#stored,
      sessionIdle: limits.sessionIdle,
      end: session => this.#endQuietly(session, 'the session was idle for too long'),
      save: session => { void this.#save(session) },
      onTrouble
    })
    this.#offTaken = store.onTaken(id => {
      const session = this.#table.get(id)
      if (session !== undefined) this.#dropTaken(session)
    })
  }

  get size (): number {
    return this.#table.size
  }

  /** Throws an HTTP error when the server is overloaded or there are as many sessions as allowed. */
  create (peer: PeerOptions = {}, primed = false): Session {
    const { store, checkPressure, onTrouble } = this.#ports
    checkPressure()
    this.#reserve(peer.identity?.principal)
    const session = new Session({ store, onTrouble, peer, primed })
    session.peer.dirty = true
    this.#addSession(session, true)
    return session
  }

  /** A session for a client that sends `initialize`. */
  createFor (initialize: Request, identity: Identity, view?: string): Session {
    return this.create({ identity, view }, negotiate(initialize.params.protocolVersion).polling)
  }

  /** A session of this node, of that caller and of that view, which counts as seen now. Another caller's session is not found, nor is one at the URL of another view. */
  find (id: string, principal?: string, view?: string): Session | undefined {
    const session = this.#table.get(id)
    if (session === undefined || session.peer.principal !== principal || session.peer.view !== view) return undefined
    this.#table.markUsed(session)
    return session
  }

  /** Makes a stored session of that caller and view this node's; undefined when there is nothing to wait for. Rejects when the store fails. */
  restore (id: string, principal?: string, view?: string): Promise<void> | undefined {
    return this.#restorer.restoreFor(id, principal, view)
  }

  /** Settles when the session's changes are stored, or could not be; undefined when there are none. */
  save (session: Session): Promise<void> | undefined {
    return session.peer.hasUnsavedChanges && this.#table.has(session) ? this.#save(session) : undefined
  }

  /** Settles when the session is removed from the store; rejects when the store fails. */
  async end (session: Session, reason: Error): Promise<void> {
    this.#removeSession(session, errors.interrupted(`The session was ended (${reason.message})`))
    session.end()
    await this.#restorer.remove(session.id)
  }

  /** Begins to sweep idle sessions. */
  start (): void {
    this.#sweeper.start()
  }

  /** Restores the sessions of the node that had our address before: no other process can listen there, so it has ended. */
  async takeOver (nodeAddress: string): Promise<void> {
    const { onTrouble } = this.#ports
    this.#stored.nodeAddress = nodeAddress
    const ids = await this.#stored.idsAtNode().catch(error => { onTrouble(error); return [] })
    await Promise.all(ids.map(async id => { await this.#restorer.restore(id).catch(onTrouble) }))
  }

  /** Settles when all events sent so far are stored. */
  async flush (): Promise<void> {
    for (const session of this.#table.values()) await session.settled()
  }

  /** Answers what is in flight with an error. The sessions stay in the store for the next process. */
  close (): void {
    this.#sweeper.stop()
    this.#offTaken()
    for (const session of this.#table.values()) this.#removeSession(session, errors.closing())
  }

  get #isFull (): boolean {
    return this.#table.size + this.#restorer.adopting >= this.#limits.maxSessions
  }

  /**
   * Throws an HTTP error when there may be no more sessions. Ends an abandoned one where that makes the difference: clients that only
   * initialize sessions, again and again, must not keep out those that use theirs.
   */
  #reserve (principal: string | undefined): void {
    const { maxSessionsPerPrincipal } = this.#limits
    const abandoned = this.#isFull ? this.#table.findAbandoned() : undefined
    if (this.#isFull && abandoned === undefined) {
      this.#ports.reportHealth('there are as many as option maxSessions allows')
      throw httpErrors.tooManySessions()
    }
    if (principal !== undefined && this.#table.countOf(principal) >= maxSessionsPerPrincipal) {
      throw httpErrors.tooManySessionsOfCaller(maxSessionsPerPrincipal)
    }
    if (abandoned !== undefined) this.#endQuietly(abandoned, 'the session was not used')
  }

  #endQuietly (session: Session, reason: string): void {
    this.end(session, new Error(reason)).catch(this.#ports.onTrouble)
  }

  #addSession (session: Session, unused: boolean): void {
    this.#table.add(session, unused)
    this.#ports.connect(session.peer)
  }

  /** Calls in flight are answered with the reason. */
  #removeSession (session: Session, reason: McpError): void {
    this.#table.remove(session)
    session.peer.giveUp(reason)
    this.#ports.disconnect(session.peer, reason)
    if (!this.#isFull) this.#ports.reportHealth(undefined)
  }

  #dropTaken (session: Session): void {
    this.#removeSession(session, errors.interrupted('Another gateway took over the session'))
    session.disconnect()
  }

  // A session that cannot be saved is served all the same; the sweeper tries again.
  async #save (session: Session): Promise<void> {
    try {
      if (!await this.#stored.save(session)) this.#dropTaken(session)
    } catch (error) {
      this.#ports.onTrouble(error)
    }
  }

  async #restoreSession (id: string, record: SessionRecord): Promise<void> {
    const { store, resubscribe, onTrouble } = this.#ports
    const session = Session.from(record, { id, store, onTrouble })
    const { peer } = session
    for (const uri of record.subscriptions) peer.setSubscribed(uri, true)
    peer.takeChanges()
    // Begun before the session is added: new events come after the responses of interrupted replies.
    const finished = session.finishReplies().catch(onTrouble)
    this.#addSession(session, false)
    for (const uri of record.subscriptions) {
      // The client may have unsubscribed meanwhile.
      if (peer.subscriptions.has(uri)) await resubscribe(uri, peer).catch(onTrouble)
    }
    await finished
  }
}
