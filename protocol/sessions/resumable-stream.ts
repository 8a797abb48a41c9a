import type { Channel } from '../wire/channel.js'
import type { LoggedEvent, Replay } from '../store.js'
import { StreamConnections } from './stream-connections.js'

/** One message on its way to an SSE client; `id` is where the client may resume after it. */
export interface StreamEvent { id?: string, text: string, method?: string, retry?: number }

/** Where events are written while a client is connected. */
export interface Sink {
  /** True where messages have names beside their data, as on `/mcp/sse`. */
  readonly named?: boolean
  write (event: StreamEvent): void
  end (): void
  /** Ends it, and the connection with it. */
  close (): void
  /** True while more waits than may, so that its reader has to read before it asks for more. */
  isFull? (): boolean
}

/** Where the events of one stream are kept. Nothing here rejects: an event that could not be kept has no number, and one that is taken is another's to send. */
export interface StreamLog {
  append (event: LoggedEvent, seen: boolean): Promise<number | 'taken' | undefined>
  /** What follows an event, or what nobody has seen yet; undefined when it cannot be had. */
  read (after: number | undefined): Promise<Replay | undefined>
  saw (number: number): void
  end (): Promise<void>
}

export interface StreamOptions {
  /** Opens with an event without data, so that the client can resume before the first message. */
  primed: boolean
  /** Settles when the log knows of the stream; nothing is sent before. */
  opened?: Promise<unknown> | undefined
  /** A client has listened before: it may come back for every single event. */
  known?: boolean
  /** Runs when the stream has ended and nobody is connected. */
  onOver?: () => void
}

const RETRY_MS = 1_000
const DONE = Promise.resolve()
const nothing = (): void => {}

/**
 * A stream of a session that outlives its connection, and the process too where its log does: what is sent while nobody listens waits,
 * and a client that names the last event it saw gets what followed, once and in order. An event is kept before it is sent.
 *
 * Each event is written to one connection: the newest. An older one may be half-open, which the server cannot see, or alive; it stays
 * open and silent, so that two clients which are alive do not close each other in turns. When the newest is gone, the one before carries
 * on; what is written there does not count as seen, because its client may have left it long ago.
 */
export class ResumableStream implements Channel {
  readonly streams = true
  readonly key: string
  readonly #log: StreamLog
  readonly #primed: boolean
  readonly #onOver: () => void
  /** News that waits for a client, of the kind of which the latest is enough. */
  #unheard: Set<string> | undefined
  /** What was begun is done one after the other: appending, connecting, ending. */
  #turn: Promise<void> = DONE
  #known: boolean
  readonly #connections = new StreamConnections()
  /** The connection that is written to: the newest, once it has been sent what came before. */
  #sink: Sink | undefined
  #sent = 0
  ended = false

  constructor (key: string, log: StreamLog, { primed, opened, known = false, onOver = nothing }: StreamOptions) {
    this.key = key
    this.#log = log
    this.#primed = primed
    this.#known = known
    this.#onOver = onOver
    if (opened !== undefined) this.#next(async () => { await opened })
  }

  get connected (): boolean {
    return this.#connections.newest !== undefined
  }

  /** True while there is a connection which its client has not replaced: a sign that there is a client. */
  get attended (): boolean {
    return this.connected && !this.#connections.doubtful
  }

  /** True while the newest connection is one with named events. */
  get named (): boolean {
    return this.#connections.newest?.named === true
  }

  /** Settles when everything that was begun is done. */
  async settled (): Promise<void> {
    await this.#turn
  }

  /** Connects a client: it gets what followed the event it names, or else what was not seen yet, and then whatever comes, until a newer one connects. */
  attach (sink: Sink, after?: number, retry = RETRY_MS): void {
    this.#connections.add(sink)
    this.#known = true
    this.#unheard = undefined
    this.#next(async () => {
      const replay = await this.#log.read(after)
      if (this.#connections.has(sink)) this.#begin(sink, replay ?? { after: after ?? 0, events: [], ended: false }, retry)
    })
  }

  /** The connection is gone; the stream goes on. */
  detach (sink: Sink): void {
    const newest = this.#connections.newest === sink
    this.#connections.remove(sink)
    // The one before the newest has been sent what came before, but a newer one has not.
    if (this.#sink === sink) this.#sink = newest ? this.#connections.newest : undefined
    this.#rest()
  }

  emit (text: string, method: string): void {
    if (this.ended || this.#isOldNews(text, method)) return
    const event = { text, method }
    const seen = this.#isSeen
    const kept = this.#log.append(event, seen)
    this.#next(async () => {
      const number = await kept
      if (number === 'taken') return
      this.#write(number, event)
      // The client has connected meanwhile.
      if (number !== undefined && !seen && this.#isSeen) this.#log.saw(number)
    })
  }

  respond (text: string): void {
    this.emit(text, '')
  }

  end (): void {
    if (this.ended) return
    this.ended = true
    const clients = this.#connections.all
    const kept = this.#log.end()
    this.#next(async () => {
      await kept
      this.#leave(clients)
      this.#rest()
    })
  }

  /** Lets the client go; it may come back. */
  hangUp (): void {
    const clients = this.#connections.all
    this.#next(async () => this.#leave(clients))
  }

  release (retryMs: number): void {
    const clients = this.#connections.all
    this.#next(async () => {
      if (this.#sink !== undefined && clients.includes(this.#sink)) this.#sink.write({ text: '', retry: retryMs })
      this.#leave(clients)
    })
  }

  /** True when what is written now counts as seen: it goes to the newest connection, and no newer one has come and gone. */
  get #isSeen (): boolean {
    return this.#sink !== undefined && this.#sink === this.#connections.newest && !this.#connections.doubtful
  }

  #begin (sink: Sink, { after, events, ended }: Replay, retry: number): void {
    this.#sink = sink
    this.#sent = after
    if (this.#primed) sink.write({ id: `${this.key}-${after}`, text: '', retry })
    for (const { number, ...event } of events) this.#write(number, event)
    if (events.length > 0) this.#log.saw(this.#sent)
    if (ended) this.#leave([sink])
  }

  // What a client was sent when it connected is not sent again when its turn comes.
  #write (number: number | undefined, { text, method }: LoggedEvent): void {
    if (number !== undefined && number <= this.#sent) return
    this.#sent = number ?? this.#sent
    this.#sink?.write(number === undefined ? { text, method } : { id: `${this.key}-${number}`, text, method })
  }

  // Whoever is not there learns once that a list has changed, not how often. The same holds of resources while nobody has ever listened.
  #isOldNews (text: string, method: string): boolean {
    const once = method.endsWith('/list_changed') || (method.endsWith('/updated') && !this.#known)
    if (this.connected || !once) return false
    this.#unheard ??= new Set()
    if (this.#unheard.has(text)) return true
    this.#unheard.add(text)
    return false
  }

  #next (job: () => Promise<void>): void {
    this.#turn = this.#turn.then(job)
  }

  // A client that has connected meanwhile is not meant.
  #leave (clients: Sink[]): void {
    for (const client of clients) {
      if (!this.#connections.has(client)) continue
      this.detach(client)
      client.end()
    }
  }

  #rest (): void {
    if (this.ended && !this.connected) this.#onOver()
  }
}
