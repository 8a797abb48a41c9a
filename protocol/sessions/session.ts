import type { Channel } from '../wire/channel.js'
import { now } from '../../lib/time.js'
import { Peer } from '../peer/peer.js'
import { agreementOf, applyAgreement } from './stored/agreement.js'
import { isAnnouncement } from './announcements.js'
import { Home } from './home.js'
import { newSessionId } from './session-id.js'
import type { SessionOptions, SessionPorts } from './session-options.js'
import { parseEventId, type ResumePoint } from './streams/resume-point.js'
import { Replies } from './streams/replies.js'
import { ResumableStream } from './streams/resumable-stream.js'
import { StoredLog } from './streams/stored-log.js'
import type { StreamOptions } from './streams/stream-options.js'
import { STANDALONE, type Agreement, type SessionRecord, type StreamNews } from '../store.js'

/** The session of a peer; undefined for a peer that has none, or has left. */
export const sessionOf = ({ channel }: Peer): Session | undefined => channel instanceof Session ? channel : undefined

/** The memory of a stateful HTTP client: its peer and its streams, which are created when they are needed. */
export class Session implements Channel {
  readonly streams = true
  readonly id: string
  readonly peer: Peer
  readonly home: Home
  /** The stored part of its agreement; undefined until it was written to the store. */
  stored: Agreement | undefined
  /** Until when it stays in the store, as this node last wrote it. */
  expires = 0
  /** True when it has to be read again before its next use: another node may have changed it, or become its home. */
  stale = false
  /** When its client was last there, on the monotonic clock. */
  lastSeen = now()
  readonly #ports: SessionPorts
  readonly #primed: boolean
  /** True when the client reads named events, as it is stored or will be. */
  #isStoredNamed = false
  #standalone: ResumableStream | undefined
  /** Most sessions never have one. */
  #replies: Replies | undefined

  constructor ({ ports, id = newSessionId(), peer = {}, primed = false, wasConnected = false }: SessionOptions) {
    this.id = id
    this.#ports = ports
    this.#primed = primed
    this.home = new Home(this, ports, wasConnected)
    this.peer = new Peer(peer)
    this.peer.channel = this
  }

  /** Takes over what is stored. */
  apply (record: SessionRecord): void {
    applyAgreement(this.peer, record)
    this.#isStoredNamed = record.named === true
    this.stored = this.agreement
  }

  /** The stream for messages that belong to no call, whether or not the client has opened it. */
  get standalone (): ResumableStream {
    this.#standalone ??= this.#stream(STANDALONE, { primed: this.#primed, reader: this.home })
    return this.#standalone
  }

  /**
   * True while the client reads `/mcp/sse`, at whichever node: all messages but responses go there, and its POSTs get
   * plain JSON replies.
   */
  get named (): boolean {
    return this.home.isHere ? this.#standalone?.named === true : this.#isStoredNamed
  }

  /** Notes whether the client reads named events here, to be saved for the other nodes. */
  setNamed (named = this.#standalone?.named === true): void {
    if (named === this.#isStoredNamed) return
    this.#isStoredNamed = named
    this.peer.dirty = true
  }

  /** True while the client reads the standalone stream here. */
  get hasStream (): boolean {
    return this.#standalone?.connected === true
  }

  /** Announcements are made by the session's home; every other message comes from the node that has it. */
  emit (text: string, method: string): void {
    if (isAnnouncement(method)) this.home.announce(text, method)
    else this.standalone.emit(text, method)
  }

  respond (text: string): void {
    this.standalone.respond(text)
  }

  /** Ends the standalone stream, which tells the client that no more events will come. */
  end (): void {
    this.#standalone?.end()
  }

  get record (): SessionRecord {
    return { ...this.agreement, subscriptions: [...this.peer.subscriptions] }
  }

  get agreement (): Agreement {
    return agreementOf(this.peer, this.#isStoredNamed)
  }

  /** A stream for one reply. Its client gets `interruptedResponse` when this process dies before it has answered. */
  openReply (interruptedResponse: string): ResumableStream {
    return this.#allReplies.open(interruptedResponse)
  }

  /**
   * `exhausted` when the client has seen all of a stream that has ended; undefined when the events after that one are
   * not stored. Rejects when the store fails.
   */
  async findResumePoint (eventId: string): Promise<ResumePoint | 'exhausted' | undefined> {
    const { key, number } = parseEventId(eventId) ?? {}
    if (key === undefined || number === undefined) return undefined
    const live = key === STANDALONE ? this.standalone : this.#replies?.get(key)
    await live?.flush()
    if (live === undefined) await this.finishReplies()
    const replay = await this.#ports.store.read(this.id, key, number)
    if (replay === undefined) return undefined
    if (replay.ended && replay.events.length === 0) return 'exhausted'
    const stream = live ?? this.#replies?.get(key) ?? this.#allReplies.addForeign(key)
    if (replay.ended) stream.ended = true
    return { stream, after: replay.after }
  }

  /** Ends the replies that nodes which have died left unfinished, each with its interrupted response. */
  async finishReplies (): Promise<void> {
    await this.#allReplies.finish()
  }

  /** The other nodes whose replies clients read here. */
  get writers (): readonly string[] {
    return this.#replies?.writers ?? []
  }

  /** Sends clients the last events of replies whose writers have died. */
  async finishForeign (): Promise<void> {
    await this.#replies?.finishForeign()
  }

  /** Reads again what clients are connected to: news of other nodes may have been lost. */
  catchUp (): void {
    for (const stream of this.#streams) stream.receive('more')
  }

  /** Takes what another node did to a stream. */
  receive (stream: string, news: StreamNews): void {
    const live = stream === STANDALONE ? this.#standalone : this.#replies?.get(stream)
    live?.receive(news)
    if (stream === STANDALONE && news === 'moved' && live === undefined) this.home.onMoved()
  }

  /** True while the client waits for a response, or has a connection open that it has not replaced. */
  get isBusy (): boolean {
    return this.peer.inbound.size > 0 || this.#streams.some(stream => stream.attended)
  }

  /** Settles when all events so far are stored, and written to the clients that are connected. */
  async settled (): Promise<void> {
    await Promise.all(this.#streams.map(stream => stream.flush()))
  }

  /** Ends all connections; the client may come back, here or at another node. */
  disconnect (): void {
    for (const stream of this.#streams) stream.disconnect()
  }

  get #streams (): ResumableStream[] {
    return [...(this.#standalone === undefined ? [] : [this.#standalone]), ...(this.#replies?.all ?? [])]
  }

  get #allReplies (): Replies {
    this.#replies ??= new Replies({
      session: this.id,
      store: this.#ports.store,
      create: (key, options) => this.#stream(key, { ...options, primed: this.peer.revision?.polling === true }),
      onTrouble: this.#ports.onTrouble
    })
    return this.#replies
  }

  #stream (key: string, options: StreamOptions): ResumableStream {
    const { store, onTrouble } = this.#ports
    return new ResumableStream(key, new StoredLog(store, this.id, key, onTrouble), options, onTrouble)
  }
}
