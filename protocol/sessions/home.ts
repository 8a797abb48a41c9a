import type { Peer } from '../peer/peer.js'
import { STANDALONE } from '../store.js'
import { announceAnyChange, announcementsIn, waitsOnce, type Announcement } from './announcements.js'
import type { SessionPorts } from './session-options.js'
import type { ReaderListener } from './streams/stream-options.js'

/**
 * How long a home is waited for that reads a session again, and one that hands over its announcements, for which no
 * client waits. In milliseconds.
 */
const REFRESH_TIMEOUT = 500
const HANDOVER_TIMEOUT = 3_000
/** How often a home is looked up that moves meanwhile. */
const TRIES = 2
/** Stands for another node that has to be looked up. */
const UNKNOWN = ''

/** The session of a home. */
interface Owner {
  readonly id: string
  readonly peer: Peer
  readonly standalone: { announce (text: string, method: string): void }
  readonly hasStream: boolean
  stale: boolean
}

/**
 * The home of a session, which is the node that makes its announcements, as this node knows it:
 *
 * - *here*, when this node made the session, a client has connected here, or the home before has died;
 * - *elsewhere*, when the store says so;
 * - *unknown*, from the news that a client has connected to another node until the session is read again.
 *
 * A node that is not the home makes no announcements. One that becomes it because a client connects is *joining*: its
 * announcements wait until it has those that the home before left, and only those are made then that were not before.
 */
export class Home implements ReaderListener {
  readonly #session: Owner
  readonly #ports: SessionPorts
  /** The home, which is this node itself when it is here. */
  #node: string | undefined
  /** True once a client may have had the standalone stream open. */
  #wasConnected: boolean
  /** The methods of announcements by text: those that wait for a client, in this process or in the store. */
  #waiting: Map<string, string> | undefined
  /** While joining: those that the home before may have made, too. */
  #joining: Map<string, string> | undefined

  constructor (session: Owner, ports: SessionPorts, wasConnected: boolean) {
    this.#session = session
    this.#ports = ports
    this.#node = ports.nodeCalls.nodes.self
    this.#wasConnected = wasConnected
  }

  get isHere (): boolean {
    return this.#node === this.#ports.nodeCalls.nodes.self
  }

  /** The other node that is the home; undefined when it is here or unknown. */
  get elsewhere (): string | undefined {
    return this.isHere || this.#node === UNKNOWN ? undefined : this.#node
  }

  /** Makes an announcement if it is this node that makes them. */
  announce (text: string, method: string): void {
    if (this.#joining !== undefined) this.#joining.set(text, method)
    else if (this.isHere) this.#announceHere(text, method)
  }

  /** Takes out what this node leaves to the next home; undefined while it is not known what the one before has left. */
  handOver (): Announcement[] | undefined {
    return this.#joining === undefined ? this.#takeWaiting() : undefined
  }

  /** Takes over which node is the home from the store. This node becomes it if that has died. */
  async apply (stored: string | undefined): Promise<void> {
    const { store, nodeCalls: { nodes } } = this.#ports
    const { id, hasStream } = this.#session
    // A stream that was opened here after the record was read has made this node the home.
    const isHere = stored === nodes.self || (this.isHere && hasStream && await store.isReader(id, STANDALONE))
    this.#node = isHere ? nodes.self : stored ?? UNKNOWN
    if (!isHere && (stored === undefined || !await nodes.isAlive(stored))) await this.#move(stored)
  }

  /** Makes the home know what has changed in the session, so that it announces accordingly from now on. */
  async inform (): Promise<void> {
    const { store, nodeCalls } = this.#ports
    const { id } = this.#session
    for (let tries = 0; tries < TRIES; tries++) {
      if (this.#node === UNKNOWN) this.#node = (await store.load(id))?.home ?? UNKNOWN
      const node = this.elsewhere
      if (node === undefined) return
      const { outcome, answer } =
        await nodeCalls.request(node, 'refresh', { session: id }, { timeout: REFRESH_TIMEOUT })
      if (answer === true || (outcome !== 'answered' && await nodeCalls.nodes.isAlive(node))) return
      if (await this.#move(node)) return await this.subscribe()
      this.#node = UNKNOWN
    }
  }

  /** Subscribes to the resources of the session if this node is the home. */
  async subscribe (): Promise<void> {
    if (this.isHere) await this.#subscribe()
  }

  /** Begins to hear of all that is announced from now on. */
  onAttach (): void {
    if (this.isHere) return
    this.#joining ??= new Map()
    void this.#subscribe()
  }

  onAttached (previous: string | undefined): void {
    const isNew = !this.isHere || previous !== undefined
    this.#node = this.#ports.nodeCalls.nodes.self
    this.#wasConnected = true
    for (const { text, method } of this.#takeWaiting()) this.#session.standalone.announce(text, method)
    if (isNew) this.#takeOver(previous).catch(this.#ports.onTrouble).finally(() => this.#endJoining())
    else this.#endJoining()
  }

  /** The home before has made the announcement: the client hears of the change by that. */
  onWrite (text: string): void {
    this.#joining?.delete(text)
  }

  onMoved (): void {
    if (!this.isHere) return
    this.#node = UNKNOWN
    this.#session.stale = true
    // The new home reads what waits in the store, and asks for what waits in this process.
    if (!this.#ports.defersAnnouncements) this.#waiting = undefined
  }

  #announceHere (text: string, method: string): void {
    const { hasStream, standalone } = this.#session
    if (!hasStream && waitsOnce(method, this.#wasConnected)) {
      if (this.#waiting?.has(text) === true) return
      this.#waiting = (this.#waiting ?? new Map<string, string>()).set(text, method)
      if (this.#ports.defersAnnouncements) return
    }
    standalone.announce(text, method)
  }

  /** Takes out the announcements that wait in this process for a client. */
  #takeWaiting (): Announcement[] {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    return this.#ports.defersAnnouncements ? Array.from(waiting, ([text, method]) => ({ text, method })) : []
  }

  /** Becomes the home after one that has left, with all it may not have announced; false if another was faster. */
  async #move (previous: string | undefined): Promise<boolean> {
    const { store, nodeCalls } = this.#ports
    if (!await store.moveHome(this.#session.id, previous)) return false
    this.#node = nodeCalls.nodes.self
    announceAnyChange(this.#session.peer)
    return true
  }

  /** Announces what the home before, which the client has left, has not announced. */
  async #takeOver (previous: string | undefined): Promise<void> {
    const { id, peer } = this.#session
    await this.subscribe()
    if (previous === undefined) return
    const { answer } =
      await this.#ports.nodeCalls.request(previous, 'handover', { session: id }, { timeout: HANDOVER_TIMEOUT })
    const left = announcementsIn(answer)
    if (left === undefined) announceAnyChange(peer)
    else for (const { text, method } of left) this.announce(text, method)
  }

  #endJoining (): void {
    const joining = this.#joining ?? []
    this.#joining = undefined
    for (const [text, method] of joining) this.announce(text, method)
  }

  async #subscribe (): Promise<void> {
    const { subscribe, onTrouble } = this.#ports
    const { peer } = this.#session
    for (const uri of [...peer.subscriptions]) {
      // The client may have unsubscribed meanwhile.
      if (peer.subscriptions.has(uri)) await subscribe(uri, peer).catch(onTrouble)
    }
  }
}
