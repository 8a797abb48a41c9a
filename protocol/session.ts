import { randomBytes } from 'node:crypto'
import { Peer, type PeerOptions } from './peer.js'
import { ResumableStream, type StreamLog } from './resumable-stream.js'
import { revisionNamed } from './revisions/table.js'
import type { Implementation } from './revisions/revision.js'
import { STANDALONE, type Replay, type SessionRecord, type SessionStore } from './store.js'

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

/** Where a client goes on, as its `Last-Event-ID` says; nothing will follow when the stream is exhausted. */
export interface Place { stream: ResumableStream, after: number, exhausted: boolean }

/** What a stateful HTTP client is remembered by: its peer, and its streams until they are of no use any more. */
export class Session {
  readonly id: string
  readonly peer: Peer
  /** Carries what belongs to no call, whether or not the client has opened it. */
  readonly standalone: ResumableStream
  /** Everything outside an answer goes to the standalone stream: its client reads named events beside plain replies. */
  named = false
  lastSeen = Date.now()
  readonly #store: SessionStore
  readonly #onTrouble: (error: unknown) => void
  /** Replies that are being written or read. */
  readonly #replies = new Map<string, ResumableStream>()

  /** Ids have 192 random bits: they are not guessed. */
  constructor ({ store, onTrouble, id = randomBytes(24).toString('base64url'), peer = {}, primed = false, known = false }: SessionOptions) {
    this.id = id
    this.#store = store
    this.#onTrouble = onTrouble
    this.standalone = new ResumableStream(STANDALONE, this.#log(STANDALONE), { primed, known })
    this.peer = new Peer({ ...peer, channel: this.standalone })
  }

  /** A session that was kept, as it was left. */
  static from (record: SessionRecord, options: Omit<SessionOptions, 'peer' | 'primed' | 'known'>): Session {
    const revision = record.revision === undefined ? undefined : revisionNamed(record.revision)
    const session = new Session({
      ...options,
      known: true,
      primed: revision?.polling === true,
      peer: { ...(revision === undefined ? {} : { revision }), ...(record.principal === undefined ? {} : { principal: record.principal }) }
    })
    const { peer } = session
    peer.greeted = record.greeted
    peer.client = record.client as Implementation | undefined
    peer.capabilities = record.capabilities
    peer.logLevel = record.logLevel
    return session
  }

  get record (): SessionRecord {
    const { revision, greeted, client, capabilities, logLevel, subscriptions, principal } = this.peer
    return { revision: revision?.version, greeted, client, capabilities, logLevel, subscriptions: [...subscriptions], principal }
  }

  /** A stream for one reply. `lastWord` is the answer its client gets when this process dies before it has answered. */
  openStream (lastWord: string): ResumableStream {
    const key = randomBytes(6).toString('hex')
    void this.#quietly(this.#store.open(this.id, key, lastWord))
    return this.#reply(key)
  }

  /** Undefined when nothing can be resumed from there. */
  async locate (eventId: string): Promise<Place | undefined> {
    const [, key, number] = /^([0-9a-f]{1,12})-(\d{1,15})$/.exec(eventId) ?? []
    const live = key === STANDALONE ? this.standalone : this.#replies.get(key ?? '')
    await live?.settled()
    const replay = key === undefined ? undefined : await this.#read(key, Number(number))
    if (key === undefined || replay === undefined) return undefined
    const stream = live ?? this.#replies.get(key) ?? this.#reply(key)
    if (replay.ended) stream.ended = true
    return { stream, after: replay.after, exhausted: replay.ended && replay.events.length === 0 }
  }

  /** Gives the replies that another process left unfinished their last word. */
  async finishReplies (): Promise<void> {
    await this.#store.finish(this.id)
  }

  /** True while the client is connected or waits for an answer. */
  get busy (): boolean {
    return this.standalone.connected || this.peer.inbound.size > 0 || [...this.#replies.values()].some(reply => reply.connected)
  }

  /** Settles when everything that was said is kept, and sent to whoever is connected. */
  async settled (): Promise<void> {
    await Promise.all([this.standalone, ...this.#replies.values()].map(stream => stream.settled()))
  }

  /** Lets the client go; it may come back, here or elsewhere. */
  hangUp (): void {
    for (const stream of [this.standalone, ...this.#replies.values()]) stream.hangUp()
  }

  #reply (key: string): ResumableStream {
    const stream = new ResumableStream(key, this.#log(key), { primed: this.peer.revision?.polling === true, onOver: () => this.#replies.delete(key) })
    this.#replies.set(key, stream)
    return stream
  }

  #log (key: string): StreamLog {
    return {
      append: async (event, seen) => await this.#quietly(this.#store.append(this.id, key, event, seen)),
      read: async after => await this.#read(key, after),
      saw: number => { void this.#quietly(this.#store.saw(this.id, key, number)) },
      end: async () => await this.#quietly(this.#store.end(this.id, key))
    }
  }

  async #read (key: string, after: number | undefined): Promise<Replay | undefined> {
    return await this.#quietly(this.#store.read(this.id, key, after))
  }

  // A client is served as well as can be: what cannot be kept is sent all the same.
  async #quietly<T> (kept: Promise<T>): Promise<T | undefined> {
    try {
      return await kept
    } catch (error) {
      this.#onTrouble(error)
      return undefined
    }
  }
}
