import type { Channel } from '../wire/channel.js'
import { now } from '../../lib/time/clock.js'
import { Peer, type PeerOptions } from '../peer/peer.js'
import { randomToken } from '../../lib/random-token.js'
import { ResumableStream, type StreamLog, type StreamOptions } from './resumable-stream.js'
import { revisionNamed } from '../revisions/table.js'
import type { Implementation } from '../revisions/revision.js'
import { STANDALONE, type Agreement, type LoggedEvent, type Replay, type SessionRecord, type SessionStore } from '../store.js'

/** Each request of a session says for itself what it was granted. */
const NOTHING: ReadonlySet<string> = new Set()

export interface SessionOptions {
  store: SessionStore
  /** Hears of what could not be kept. */
  onTrouble: (error: unknown) => void
  id?: string
  peer?: PeerOptions
  primed?: boolean
  /** The client has been here before. */
  known?: boolean
}

/** Where a client goes on, as its `Last-Event-ID` says. */
export interface Place { stream: ResumableStream, after: number }

/** What a stateful HTTP client is remembered by: its peer, and its streams until they are of no use any more. Thousands idle, so streams are made when they are needed. */
export class Session implements Channel {
  readonly id: string
  readonly peer: Peer
  /** True once the store has it. */
  stored = false
  /** On the clock that cannot be set. */
  lastSeen = now()
  readonly #store: SessionStore
  readonly #onTrouble: (error: unknown) => void
  readonly #primed: boolean
  readonly #known: boolean
  #standalone: ResumableStream | undefined
  /** Replies that are being written or read; most sessions never have one. */
  #replies: Map<string, ResumableStream> | undefined

  constructor ({ store, onTrouble, id = newId(), peer = {}, primed = false, known = false }: SessionOptions) {
    this.id = id
    this.#store = store
    this.#onTrouble = onTrouble
    this.#primed = primed
    this.#known = known
    this.peer = new Peer(peer)
    this.peer.channel = this
  }

  /** A session that was kept, as it was left. */
  static from (record: SessionRecord, options: Omit<SessionOptions, 'peer' | 'primed' | 'known'>): Session {
    const revision = record.revision === undefined ? undefined : revisionNamed(record.revision)
    const session = new Session({
      ...options,
      known: true,
      primed: revision?.polling === true,
      peer: { requestIdPrefix: `${randomToken(6, 'hex')}-`, ...(revision === undefined ? {} : { revision }), identity: { principal: record.principal, scopes: record.principal === undefined ? 'all' : NOTHING } }
    })
    const { peer } = session
    peer.initialized = record.initialized
    peer.client = record.client as Implementation | undefined
    peer.capabilities = record.capabilities
    peer.logLevel = record.logLevel
    session.stored = true
    return session
  }

  /** Carries what belongs to no call, whether or not the client has opened it. */
  get standalone (): ResumableStream {
    this.#standalone ??= this.#stream(STANDALONE, { primed: this.#primed, known: this.#known })
    return this.#standalone
  }

  /** True while everything outside an answer goes to the standalone stream: its client reads named events beside plain replies. */
  get named (): boolean {
    return this.#standalone?.named === true
  }

  get streams (): boolean {
    return true
  }

  emit (text: string, method: string): void {
    this.standalone.emit(text, method)
  }

  respond (text: string): void {
    this.standalone.respond(text)
  }

  /** Its client is told that nothing will come any more. */
  end (): void {
    this.#standalone?.end()
  }

  get record (): SessionRecord {
    return { ...this.agreement, subscriptions: [...this.peer.subscriptions] }
  }

  get agreement (): Agreement {
    const { revision, initialized, client, capabilities, logLevel, principal } = this.peer
    return { revision: revision?.version, initialized, client, capabilities, logLevel, principal }
  }

  /** A stream for one reply. `interruptedResponse` is the answer its client gets when this process dies before it has answered. */
  openStream (interruptedResponse: string): ResumableStream {
    const key = randomToken(6, 'hex')
    return this.#reply(key, quietly(this.#store.open(this.id, key, interruptedResponse), this.#onTrouble))
  }

  /** Exhausted when the client has seen all there will be; undefined when nothing can be resumed from there. */
  async locate (eventId: string): Promise<Place | 'exhausted' | undefined> {
    const [, key, number] = /^([0-9a-f]{1,12})-(\d{1,15})$/.exec(eventId) ?? []
    const live = key === STANDALONE ? this.standalone : this.#replies?.get(key ?? '')
    await live?.settled()
    const replay = key === undefined ? undefined : await quietly(this.#store.read(this.id, key, Number(number)), this.#onTrouble)
    if (key === undefined || replay === undefined) return undefined
    if (replay.ended && replay.events.length === 0) return 'exhausted'
    const stream = live ?? this.#replies?.get(key) ?? this.#reply(key)
    if (replay.ended) stream.ended = true
    return { stream, after: replay.after }
  }

  /** Gives the replies that another process left unfinished their last word. */
  async finishReplies (): Promise<void> {
    await this.#store.finish(this.id)
  }

  /** True while the client waits for an answer, or has a connection open that it has not replaced by a newer one. */
  get busy (): boolean {
    return this.peer.inbound.size > 0 || this.#streams.some(stream => stream.attended)
  }

  /** Settles when everything that was said is kept, and sent to whoever is connected. */
  async settled (): Promise<void> {
    await Promise.all(this.#streams.map(stream => stream.settled()))
  }

  /** Lets the client go; it may come back, here or elsewhere. */
  hangUp (): void {
    for (const stream of this.#streams) stream.hangUp()
  }

  get #streams (): ResumableStream[] {
    return [...(this.#standalone === undefined ? [] : [this.#standalone]), ...(this.#replies?.values() ?? [])]
  }

  #reply (key: string, opened?: Promise<unknown>): ResumableStream {
    const replies = this.#replies ??= new Map()
    const stream = this.#stream(key, { opened, primed: this.peer.revision?.polling === true, onOver: () => replies.delete(key) })
    replies.set(key, stream)
    return stream
  }

  #stream (key: string, options: StreamOptions): ResumableStream {
    return new ResumableStream(key, new StoredLog(this.#store, this.id, key, this.#onTrouble), options)
  }
}

/**
 * Nobody guesses 144 random bits. They begin with the time, so that sessions which are opened one after the other are kept side by side:
 * a store then writes a page for all that are opened together, and not one for each.
 */
const newId = (): string => `${Date.now().toString(36)}${randomToken(18, 'base64url')}`

/** The events of one stream in the store of all. */
class StoredLog implements StreamLog {
  readonly #store: SessionStore
  readonly #session: string
  readonly #key: string
  readonly #onTrouble: (error: unknown) => void

  constructor (store: SessionStore, session: string, key: string, onTrouble: (error: unknown) => void) {
    this.#store = store
    this.#session = session
    this.#key = key
    this.#onTrouble = onTrouble
  }

  append (event: LoggedEvent, seen: boolean): Promise<number | 'taken' | undefined> {
    return quietly(this.#store.append(this.#session, this.#key, event, seen), this.#onTrouble)
  }

  read (after: number | undefined): Promise<Replay | undefined> {
    return quietly(this.#store.read(this.#session, this.#key, after), this.#onTrouble)
  }

  saw (number: number): void {
    void quietly(this.#store.markSeen(this.#session, this.#key, number), this.#onTrouble)
  }

  end (): Promise<void> {
    return quietly(this.#store.end(this.#session, this.#key), this.#onTrouble)
  }
}

// A client is served as well as can be: what cannot be kept is sent all the same.
async function quietly<T> (kept: Promise<T>, onTrouble: (error: unknown) => void): Promise<T | undefined> {
  try {
    return await kept
  } catch (error) {
    onTrouble(error)
    return undefined
  }
}
