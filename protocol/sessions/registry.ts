import { withTimeout } from '../../lib/time.js'
import { httpErrors } from '../http/http-errors.js'
import type { PeerOptions } from '../peer/peer-options.js'
import { negotiate } from '../revisions/table.js'
import type { StoredSession } from '../store.js'
import { errors, type McpError } from '../wire/errors.js'
import type { Identity } from '../wire/identity.js'
import type { Request } from '../wire/jsonrpc.js'
import { openForwarder } from './forwarder.js'
import type { RegistryPorts, SessionLimits } from './registry-ports.js'
import { SessionRestorer } from './restorer.js'
import type { Session } from './session.js'
import { SessionLoader } from './session-loader.js'
import { SessionTable } from './session-table.js'
import { StoredSessions, type Saved } from './stored/stored-sessions.js'
import { SessionSweeper, sweepInterval } from './sweeper.js'

/** How long events are waited for that are being stored, in milliseconds. */
const FLUSH_TIMEOUT = 2_000

/** The sessions of stateful HTTP clients that this node serves. They outlive it where the store does. */
export class SessionRegistry {
  /** Throws an HTTP error while a store that other nodes share cannot be used. */
  readonly checkStore: () => void
  readonly #limits: SessionLimits
  readonly #ports: RegistryPorts
  readonly #table = new SessionTable()
  readonly #stored: StoredSessions
  readonly #loader: SessionLoader
  readonly #restorer: SessionRestorer
  readonly #sweeper: SessionSweeper
  readonly #off: Array<() => void>

  constructor (limits: SessionLimits, ports: RegistryPorts) {
    const { store, nodeCalls, onTrouble } = ports
    this.checkStore = ports.checkStore
    this.#limits = limits
    this.#ports = ports
    // Touched at every sweep, so it has to stay for one interval longer than a session may be idle.
    const lifetime = limits.sessionIdle + sweepInterval(limits.sessionIdle)
    this.#stored = new StoredSessions(store, lifetime, limits.maxSessionsPerPrincipal)
    nodeCalls.on('refresh', async ({ session }) => await this.#refreshServed(session))
    nodeCalls.on('handover', async ({ session }) => this.#table.get(session)?.home.handOver())
    const forward = openForwarder({ ...ports, find: id => this.#table.get(id) })
    this.#loader = new SessionLoader({ ...ports, forward })
    this.#restorer = new SessionRestorer({
      stored: this.#stored,
      served: id => this.#table.get(id),
      reserve: () => this.#reserve(undefined),
      serve: async (id, found) => await this.#serveStored(id, found),
      refresh: async (session, found) => await this.#refresh(session, found)
    })
    this.#sweeper = new SessionSweeper({
      sessions: () => this.#table.values(),
      stored: this.#stored,
      sessionIdle: limits.sessionIdle,
      end: session => this.#endQuietly(session, 'the session was idle for too long'),
      save: session => { void this.#save(session) },
      checkHomes: () => { void this.#loader.markOrphans(this.#table.values()) },
      isAlive: nodeCalls.nodes.self === undefined ? undefined : async node => await nodeCalls.nodes.isAlive(node),
      losesNews: nodeCalls.nodes.losesMessages === true,
      onTrouble
    })
    this.#off = [
      store.onChange(id => this.#onChange(id)),
      store.onNews((id, stream, news) => this.#table.get(id)?.receive(stream, news))
    ]
  }

  get size (): number {
    return this.#table.size
  }

  /** Throws an HTTP error when the server is overloaded or there are as many sessions as allowed. */
  create (peer: PeerOptions = {}, primed = false): Session {
    this.#ports.checkPressure()
    this.checkStore()
    this.#reserve(peer.identity?.principal)
    const session = this.#loader.create(peer, primed)
    session.peer.dirty = true
    this.#addSession(session, true)
    return session
  }

  /** A session for a client that sends `initialize`. */
  createFor (initialize: Request, identity: Identity, view?: string): Session {
    return this.create({ identity, view }, negotiate(initialize.params.protocolVersion).polling)
  }

  /** A session of this node, which counts as seen now; undefined for one of another caller, or of another view. */
  find (id: string, principal?: string, view?: string): Session | undefined {
    const session = this.#table.get(id)
    if (session === undefined || session.peer.principal !== principal || session.peer.view !== view) return undefined
    // Other nodes may be about to end the session: it is in use again, or in use here for the first time.
    const isDue = this.#table.markUsed(session) > this.#limits.sessionIdle / 2 || this.#stored.isUntouched(session)
    if (isDue) this.#stored.touch([session]).catch(this.#ports.onTrouble)
    return session
  }

  /** Makes a stored session one of this node; undefined if there is nothing to wait for. Rejects if the store fails. */
  restore (id: string, principal?: string, view?: string): Promise<void> | undefined {
    return this.#restorer.restoreFor(id, principal, view)
  }

  /** Settles when the session's changes are stored, or could not be; undefined when there are none. */
  save (session: Session): Promise<void> | undefined {
    return session.peer.hasUnsavedChanges && this.#table.has(session) ? this.#save(session).then(() => {}) : undefined
  }

  /**
   * Stores a new session, if that is possible. Rejects with an HTTP error when its caller has as many sessions at all
   * nodes as allowed, or the store fails and other nodes would not know of the session.
   */
  async open (session: Session): Promise<void> {
    const max = this.#limits.maxSessionsPerPrincipal
    if (await this.#save(session) === 'refused') throw httpErrors.tooManySessionsOfCaller(max)
    try {
      if (session.stored === undefined) this.checkStore()
    } catch (error) {
      this.#endQuietly(session, 'it could not be stored')
      throw error
    }
  }

  /** Settles when the session is removed from the store; rejects when the store fails. */
  async end (session: Session, reason: Error): Promise<void> {
    this.#removeSession(session, errors.interrupted(`The session was ended (${reason.message})`))
    session.end()
    await this.#restorer.remove(session.id, this.#stored.remove(session.id))
  }

  /** Begins to sweep idle sessions. */
  start (): void {
    this.#sweeper.start()
  }

  /** Restores the sessions whose nodes have ended, as has the one that had our address: only one can listen there. */
  async takeOver (address: string): Promise<void> {
    const { store, onTrouble } = this.#ports
    const ids = await store.takeOver(address).catch(error => { onTrouble(error); return [] })
    await Promise.all(ids.map(async id => { await this.#restorer.restore(id).catch(onTrouble) }))
  }

  /** Settles when all events sent so far are stored, or the store takes too long. */
  async flush (): Promise<void> {
    const settled = Array.from(this.#table.values(), async session => await session.settled())
    await withTimeout(Promise.all(settled), FLUSH_TIMEOUT, () => {})
  }

  /** Answers what is in flight with an error. The sessions stay in the store for the next process. */
  close (): void {
    this.#sweeper.stop()
    for (const off of this.#off) off()
    for (const session of this.#table.values()) this.#removeSession(session, errors.closing())
  }

  get #isFull (): boolean {
    return this.#table.size + this.#restorer.restoring >= this.#limits.maxSessions
  }

  /**
   * Throws an HTTP error when there may be no more sessions. Ends an abandoned one where that makes the difference:
   * clients that only initialize sessions, again and again, must not keep out those that use theirs.
   */
  #reserve (principal: string | undefined): void {
    const { maxSessionsPerPrincipal } = this.#limits
    const abandoned = this.#isFull ? this.#table.findAbandoned() : undefined
    if (this.#isFull && abandoned === undefined) {
      this.#ports.reportHealth('there are as many as limit maxSessions allows')
      throw httpErrors.tooManySessions()
    }
    if (principal !== undefined && this.#table.countOf(principal) >= maxSessionsPerPrincipal) {
      throw httpErrors.tooManySessionsOfCaller(maxSessionsPerPrincipal)
    }
    if (abandoned !== undefined) this.#endQuietly(abandoned, 'the session was not used')
  }

  /** Ends a session here, and everywhere unless another node has used it since. */
  #endQuietly (session: Session, reason: string): void {
    this.#removeSession(session, errors.interrupted(`The session was ended (${reason})`))
    session.disconnect()
    this.#restorer.remove(session.id, this.#stored.removeUnused(session)).catch(this.#ports.onTrouble)
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

  #dropRemoved (session: Session): void {
    this.#removeSession(session, errors.interrupted('The session was ended'))
    session.disconnect()
  }

  // A session that cannot be saved is served all the same; the sweeper tries again.
  async #save (session: Session): Promise<Saved | undefined> {
    try {
      const saved = await this.#stored.save(session)
      if (saved === 'saved') await session.home.inform()
      else this.#dropRemoved(session)
      return saved
    } catch (error) {
      this.#ports.onTrouble(error)
      return undefined
    }
  }

  async #serveStored (id: string, stored: StoredSession): Promise<void> {
    const session = await this.#loader.load(id, stored)
    // Begun before the session is added: new events come after the responses of interrupted replies.
    const finished = session.finishReplies()
    this.#addSession(session, false)
    await session.home.subscribe()
    await finished
  }

  async #refresh (session: Session, stored: StoredSession | undefined): Promise<void> {
    if (!this.#table.has(session)) return
    if (stored === undefined) this.#dropRemoved(session)
    else await this.#loader.refresh(session, stored)
  }

  /** False when the session is not served here, or this node is not its home. */
  async #refreshServed (id: string): Promise<boolean> {
    const session = this.#table.get(id)
    if (session !== undefined) await this.#restorer.refresh(session)
    return session !== undefined && this.#table.has(session) && session.home.isHere
  }

  /** Another node has changed or removed a session: any of them, when there is no id. */
  #onChange (id: string | undefined): void {
    const session = id === undefined ? undefined : this.#table.get(id)
    for (const any of id === undefined ? this.#table.values() : []) {
      any.stale = any.stored !== undefined
      void this.save(any)
      any.catchUp()
    }
    if (session === undefined) return
    session.stale = true
    this.#restorer.refresh(session).catch(this.#ports.onTrouble)
  }
}
