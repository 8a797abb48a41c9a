import type { Channel } from '../../wire/channel.js'
import type { NumberedEvent, Replay, StreamNews } from '../../store.js'
import type { Sink, StreamLog } from './sink.js'
import { StreamConnections } from './stream-connections.js'

export interface StreamOptions {
  /** Opens with an event without data, so that the client can resume before the first message. */
  primed: boolean
  /** Settles when the stream is stored; nothing is sent before. */
  opened?: Promise<unknown> | undefined
  /** True when a client has been connected before: it may come back for every single event. */
  wasConnected?: boolean
  /** True when another node writes it: it is needed only while a client reads it here. */
  foreign?: boolean
  /** Runs when a client has connected, so that this node is the reader of the stream. */
  onAttached?: () => void
  /** Runs when another node has become the reader. */
  onMoved?: () => void
  /** Runs when the stream has ended, or another node writes it, and no client is connected. */
  onClosed?: () => void
}

const RETRY_MS = 1_000
const DONE = Promise.resolve()

/**
 * A stream of a session that outlives its connections, and the process too where its log does. Events emitted while no client is connected
 * wait in the log. A client that sends the id of the last event it saw gets those after it, once and in order. An event is stored before it
 * is sent.
 *
 * Each event is written to one connection: the newest. An older one may be half-open, which the server cannot detect; it stays open and
 * gets nothing, so that two live clients do not close each other in turns. When the newest is closed, the one before it is written to again;
 * events written there do not count as seen, because its client may have left long ago. The same holds for connections at two nodes.
 *
 * Other nodes may write to the stream, too. Each event names the one before it; where that was not sent yet, what is missing is read first.
 */
export class ResumableStream implements Channel {
  readonly streams = true
  readonly key: string
  readonly #log: StreamLog
  readonly #options: StreamOptions
  /** Change notifications that wait for a client; one of each is enough. */
  #waitingNotices: Set<string> | undefined
  /** The last of the jobs that run one after the other: appending, connecting, ending. */
  #lastJob: Promise<void> = DONE
  #wasConnected: boolean
  readonly #connections = new StreamConnections()
  /** The connection that is written to: the newest, once it has got the events before. */
  #sink: Sink | undefined
  /** The number of the last event that was written to the connection; undefined while that is not known. */
  #lastSent: number | undefined
  /** The highest number that this node knows of. */
  #highest = 0
  /** How often the store was asked to make this node the reader. */
  #attached = 0
  ended = false

  constructor (key: string, log: StreamLog, options: StreamOptions) {
    const { opened, wasConnected = false } = options
    this.key = key
    this.#log = log
    this.#options = options
    this.#wasConnected = wasConnected
    if (opened !== undefined) this.#enqueue(async () => { await opened })
  }

  get connected (): boolean {
    return this.#connections.newest !== undefined
  }

  /** True while there is a connection that its client has not replaced, so that the client is known to be there. */
  get attended (): boolean {
    return this.connected && !this.#connections.newestMayBeStale
  }

  /** True while the newest connection is one with named events. */
  get named (): boolean {
    return this.#connections.newest?.named === true
  }

  /** Settles when everything begun so far is stored and written. */
  async flush (): Promise<void> {
    await this.#lastJob
  }

  /** Connects a client: it gets the events after `after`, or else those not seen yet, and then new ones until a newer connection comes. */
  attach (sink: Sink, after?: number, retry = RETRY_MS): void {
    this.#connections.add(sink)
    this.#wasConnected = true
    this.#waitingNotices = undefined
    this.#enqueue(async () => {
      this.#attached++
      const replay = await this.#log.attach(after)
      this.#options.onAttached?.()
      if (this.#connections.has(sink)) this.#connect(sink, replay, after ?? 0, retry)
    })
  }

  /** Removes a connection that is closed; the stream goes on. */
  detach (sink: Sink): void {
    const newest = this.#connections.newest === sink
    this.#connections.remove(sink)
    // The connection before the newest has got all earlier events; a newer one gets them in the job that attaches it.
    if (this.#sink === sink) this.#sink = newest ? this.#connections.newest : undefined
    this.#closeIfDone()
  }

  emit (text: string, method: string): void {
    if (this.ended || this.#isRepeatedNotice(text, method)) return
    const event = { text, method }
    const seen = this.#countsAsSeen
    const attached = this.#attached
    const stored = this.#log.append(event, seen, this.#highest)
    this.#enqueue(async () => {
      const appended = await stored
      // A client that has connected here since has got the event.
      if (appended === 'elsewhere') return attached === this.#attached ? this.#leave() : undefined
      if (appended === undefined) return this.#sink?.write(event)
      this.#highest = appended.number
      await this.#deliver({ ...event, ...appended }, seen)
    })
  }

  /** Takes what another node did to the stream. */
  receive (news: StreamNews): void {
    this.#enqueue(async () => {
      // The client may have come back here before this news.
      if (news === 'moved') return await this.#log.isReader() ? undefined : this.#leave()
      await (news === 'more' ? this.#catchUp() : this.#deliver(news, false))
    })
  }

  respond (text: string): void {
    this.emit(text, '')
  }

  end (): void {
    if (this.ended) return
    this.ended = true
    const sinks = this.#connections.all
    const stored = this.#log.end()
    this.#enqueue(async () => {
      await stored
      this.#disconnectFrom(sinks)
      this.#closeIfDone()
    })
  }

  /** Ends all connections; clients may come back. */
  disconnect (): void {
    const sinks = this.#connections.all
    this.#enqueue(async () => this.#disconnectFrom(sinks))
  }

  release (retryMs: number): void {
    const sinks = this.#connections.all
    this.#enqueue(async () => {
      if (this.#sink !== undefined && sinks.includes(this.#sink)) this.#sink.write({ text: '', retry: retryMs })
      this.#disconnectFrom(sinks)
    })
  }

  /** True when an event written now counts as seen: it goes to the newest connection, and no newer one has come and gone. */
  get #countsAsSeen (): boolean {
    return this.#sink !== undefined && this.#sink === this.#connections.newest && !this.#connections.newestMayBeStale
  }

  #connect (sink: Sink, replay: Replay | undefined, after: number, retry: number): void {
    this.#sink = sink
    this.#lastSent = replay?.after
    if (this.#connections.newest === sink) this.#connections.newestMayBeStale = false
    if (this.#options.primed) sink.write({ id: `${this.key}-${replay?.after ?? after}`, text: '', retry })
    if (replay !== undefined) this.#replay(replay, [sink], true)
  }

  #replay ({ events, ended }: Replay, sinks: Sink[], seen: boolean): void {
    for (const event of events) this.#write(event)
    if (events.length > 0 && seen) this.#log.markSeen(this.#lastSent ?? 0)
    if (ended) this.#disconnectFrom(sinks)
  }

  // An event that was replayed when the client connected is not written again when its own job runs.
  async #deliver (event: NumberedEvent, wasSeen: boolean): Promise<void> {
    const last = this.#lastSent ?? event.after
    if (this.#sink === undefined || event.number <= last) return
    if (event.after > last) return await this.#catchUp()
    this.#write(event)
    // A client has connected meanwhile, or another node stored the event.
    if (!wasSeen && this.#countsAsSeen) this.#log.markSeen(event.number)
  }

  // When what is missing is no longer stored, the client has to learn it: it resumes, and is refused.
  async #catchUp (): Promise<void> {
    if (this.#sink === undefined) return
    const replay = await this.#log.read(this.#lastSent)
    if (replay === undefined) return this.#disconnectFrom(this.#connections.all)
    if (replay.ended) this.ended = true
    this.#replay(replay, this.#connections.all, this.#countsAsSeen)
  }

  #write ({ number, text, method }: NumberedEvent): void {
    this.#lastSent = number
    this.#highest = Math.max(this.#highest, number)
    this.#sink?.write({ id: `${this.key}-${number}`, text, method })
  }

  // The connections stay open and get nothing, as older ones do.
  #leave (): void {
    this.#sink = undefined
    this.#connections.newestMayBeStale = true
    this.#options.onMoved?.()
  }

  // However often a list changes, one list_changed waits for a client that is not connected. The same holds for updates of a resource until
  // a client has connected for the first time.
  #isRepeatedNotice (text: string, method: string): boolean {
    const once = method.endsWith('/list_changed') || (method.endsWith('/updated') && !this.#wasConnected)
    if (this.connected || !once) return false
    this.#waitingNotices ??= new Set()
    if (this.#waitingNotices.has(text)) return true
    this.#waitingNotices.add(text)
    return false
  }

  #enqueue (job: () => Promise<void>): void {
    this.#lastJob = this.#lastJob.then(job)
  }

  // Connections that came after the job was queued are not in `sinks`.
  #disconnectFrom (sinks: Sink[]): void {
    for (const sink of sinks) {
      if (!this.#connections.has(sink)) continue
      this.detach(sink)
      sink.end()
    }
  }

  #closeIfDone (): void {
    if ((this.ended || this.#options.foreign === true) && !this.connected) this.#options.onClosed?.()
  }
}
