import type { Channel } from '../../wire/channel.js'
import type { LoggedEvent, NumberedEvent, Replay, StreamNews } from '../../store.js'
import type { Sink, StreamLog, StreamOptions } from './sink.js'
import { StreamConnections } from './stream-connections.js'
import { WaitingNotices } from './waiting-notices.js'

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
  readonly #waitingNotices = new WaitingNotices()
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
  /** Settles when the stream is stored, or could not be, and nothing is sent before; undefined until the store is asked to begin it. */
  #begun: Promise<unknown> | undefined
  /** True when the stream is known to be stored. */
  #isStored: boolean
  /** How often the store was asked to make this node the reader. */
  #attached = 0
  ended = false

  constructor (key: string, log: StreamLog, options: StreamOptions) {
    const { interruptedResponse, wasConnected = false } = options
    this.key = key
    this.#log = log
    this.#options = options
    this.#wasConnected = wasConnected
    this.#isStored = interruptedResponse === undefined
    if (this.#isStored) this.#begun = DONE
    else this.#enqueue(async () => await this.#begin())
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
    this.#waitingNotices.clear()
    if (this.#begun === undefined) return this.#attachFirst(sink, retry)
    this.#enqueue(async () => {
      this.#attached++
      const replay = await this.#log.attach(after)
      this.#options.onAttached?.(replay?.previous)
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
    if (!this.ended && (this.connected || this.#waitingNotices.add(text, method, this.#wasConnected))) this.#enqueue(this.#append({ text, method }, false))
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
    if (this.#options.interruptedResponse === undefined) return this.emit(text, '')
    if (!this.ended) this.#endAfter(this.#append({ text, method: '' }, true))
  }

  end (): void {
    if (this.ended) return
    void this.#begin()
    const stored = this.#log.end()
    this.#endAfter(async () => { await stored })
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

  // No other node knows of the stream, so that the store does not have to be asked who reads it and what is in it.
  #attachFirst (sink: Sink, retry: number): void {
    this.#sink = sink
    this.#lastSent = 0
    this.#enqueue(async () => {
      if (this.#options.primed && this.#connections.has(sink)) sink.write({ id: `${this.key}-0`, text: '', retry })
    })
  }

  /** Stores that the stream begins, unless an event has done so. */
  async #begin (): Promise<void> {
    await (this.#begun ??= this.#log.open(this.#options.interruptedResponse ?? ''))
  }

  /** Sends an event to the store; returns the job that delivers it. */
  #append (event: LoggedEvent, ends: boolean): () => Promise<void> {
    const seen = this.#countsAsSeen
    const attached = this.#attached
    const begins = this.#isStored ? undefined : this.#options.interruptedResponse
    const stored = this.#log.append(event, seen, { last: this.#highest, begins, ends })
    this.#begun ??= stored
    return async () => {
      const appended = await stored
      if (appended === undefined) return this.#sink?.write(event)
      this.#isStored = true
      // A client that has connected here since has got the event.
      if (appended === 'elsewhere') return attached === this.#attached ? this.#leave() : undefined
      const { number, after } = appended
      this.#highest = number
      const caughtUp = this.#deliver({ text: event.text, method: event.method, number, after }, seen)
      if (caughtUp !== undefined) await caughtUp
    }
  }

  #endAfter (job: () => Promise<void>): void {
    this.ended = true
    const sinks = this.#connections.all
    this.#enqueue(async () => {
      await job()
      this.#disconnectFrom(sinks)
      this.#closeIfDone()
    })
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
  #deliver (event: NumberedEvent, wasSeen: boolean): Promise<void> | undefined {
    const last = this.#lastSent ?? event.after
    if (this.#sink === undefined || event.number <= last) return
    if (event.after > last) return this.#catchUp()
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
