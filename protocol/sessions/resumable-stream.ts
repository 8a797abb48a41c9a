import type { Channel } from '../wire/channel.js'
import type { LoggedEvent, Replay } from '../store.js'
import type { Sink, StreamLog } from './sink.js'
import { StreamConnections } from './stream-connections.js'

export interface StreamOptions {
  /** Opens with an event without data, so that the client can resume before the first message. */
  primed: boolean
  /** Settles when the stream is stored; nothing is sent before. */
  opened?: Promise<unknown> | undefined
  /** True when a client has been connected before: it may come back for every single event. */
  wasConnected?: boolean
  /** Runs when the stream has ended and no client is connected. */
  onClosed?: () => void
}

const RETRY_MS = 1_000
const DONE = Promise.resolve()
const nothing = (): void => {}

/**
 * A stream of a session that outlives its connections, and the process too where its log does. Events emitted while no client is connected
 * wait in the log. A client that sends the id of the last event it saw gets those after it, once and in order. An event is stored before it
 * is sent.
 *
 * Each event is written to one connection: the newest. An older one may be half-open, which the server cannot detect; it stays open and
 * gets nothing, so that two live clients do not close each other in turns. When the newest is closed, the one before it is written to again;
 * events written there do not count as seen, because its client may have left long ago.
 */
export class ResumableStream implements Channel {
  readonly streams = true
  readonly key: string
  readonly #log: StreamLog
  readonly #primed: boolean
  readonly #onClosed: () => void
  /** Change notifications that wait for a client; one of each is enough. */
  #waitingNotices: Set<string> | undefined
  /** The last of the jobs that run one after the other: appending, connecting, ending. */
  #lastJob: Promise<void> = DONE
  #wasConnected: boolean
  readonly #connections = new StreamConnections()
  /** The connection that is written to: the newest, once it has got the events before. */
  #sink: Sink | undefined
  #lastSent = 0
  ended = false

  constructor (key: string, log: StreamLog, { primed, opened, wasConnected = false, onClosed = nothing }: StreamOptions) {
    this.key = key
    this.#log = log
    this.#primed = primed
    this.#wasConnected = wasConnected
    this.#onClosed = onClosed
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
      const replay = await this.#log.read(after)
      if (this.#connections.has(sink)) this.#replay(sink, replay ?? { after: after ?? 0, events: [], ended: false }, retry)
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
    const stored = this.#log.append(event, seen)
    this.#enqueue(async () => {
      const number = await stored
      if (number === 'taken') return
      this.#write(number, event)
      // A client has connected meanwhile.
      if (number !== undefined && !seen && this.#countsAsSeen) this.#log.markSeen(number)
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

  #replay (sink: Sink, { after, events, ended }: Replay, retry: number): void {
    this.#sink = sink
    this.#lastSent = after
    if (this.#primed) sink.write({ id: `${this.key}-${after}`, text: '', retry })
    for (const { number, ...event } of events) this.#write(number, event)
    if (events.length > 0) this.#log.markSeen(this.#lastSent)
    if (ended) this.#disconnectFrom([sink])
  }

  // An event that was replayed when the client connected is not written again when its own job runs.
  #write (number: number | undefined, { text, method }: LoggedEvent): void {
    if (number !== undefined && number <= this.#lastSent) return
    this.#lastSent = number ?? this.#lastSent
    this.#sink?.write(number === undefined ? { text, method } : { id: `${this.key}-${number}`, text, method })
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
    if (this.ended && !this.connected) this.#onClosed()
  }
}
