import { randomBytes } from 'node:crypto'
import { Peer, type PeerOptions } from './peer.js'
import { ResumableStream, type StreamLog } from './resumable-stream.js'
import { revisionNamed } from './revisions/table.js'
import type { Implementation } from './revisions/revision.js'
import { STANDALONE, type Replay, type SessionRecord, type SessionStore } from './store.js'

const MAX_NAME = 256
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

/** What a stateful HTTP client is remembered by: its peer, and its streams until they are of no use any more. */
export class Session {
  readonly id: string
  readonly peer: Peer
  /** Carries what belongs to no call, whether or not the client has opened it. */
  readonly standalone: ResumableStream
  /** Everything outside an answer goes to the standalone stream: its client reads named events beside plain replies. */
  named = false
  /** True once the store has it. */
  kept = false
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
      peer: { askedAs: `${randomBytes(6).toString('hex')}-`, ...(revision === undefined ? {} : { revision }), identity: { principal: record.principal, scopes: record.principal === undefined ? 'all' : NOTHING } }
    })
    const { peer } = session
    peer.greeted = record.greeted
    peer.client = record.client as Implementation | undefined
    peer.capabilities = record.capabilities
    peer.logLevel = record.logLevel
    session.kept = true
    return session
  }

  get record (): SessionRecord {
    const { revision, greeted, capabilities, logLevel, subscriptions, principal } = this.peer
    return { revision: revision?.version, greeted, client: brief(this.peer.client), capabilities, logLevel, subscriptions: [...subscriptions], principal }
  }

  /** A stream for one reply. `lastWord` is the answer its client gets when this process dies before it has answered. */
  openStream (lastWord: string): ResumableStream {
    const key = randomBytes(6).toString('hex')
    return this.#reply(key, this.#quietly(this.#store.open(this.id, key, lastWord)))
  }

  /** Exhausted when the client has seen all there will be; undefined when nothing can be resumed from there. */
  async locate (eventId: string): Promise<Place | 'exhausted' | undefined> {
    const [, key, number] = /^([0-9a-f]{1,12})-(\d{1,15})$/.exec(eventId) ?? []
    const live = key === STANDALONE ? this.standalone : this.#replies.get(key ?? '')
    await live?.settled()
    const replay = key === undefined ? undefined : await this.#read(key, Number(number))
    if (key === undefined || replay === undefined) return undefined
    if (replay.ended && replay.events.length === 0) return 'exhausted'
    const stream = live ?? this.#replies.get(key) ?? this.#reply(key)
    if (replay.ended) stream.ended = true
    return { stream, after: replay.after }
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

  #reply (key: string, opened?: Promise<unknown>): ResumableStream {
    const stream = new ResumableStream(key, this.#log(key), { opened, primed: this.peer.revision?.polling === true, onOver: () => this.#replies.delete(key) })
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

/** Who the client is, without its pictures and whatever else it says of itself. */
function brief (client: Implementation | undefined): unknown {
  if (client === undefined) return undefined
  return Object.fromEntries(['name', 'version', 'title'].map(member => [member, (client as unknown as Record<string, unknown>)[member]])
    .filter(([, value]) => typeof value === 'string').map(([member, value]) => [member, String(value).slice(0, MAX_NAME)]))
}
