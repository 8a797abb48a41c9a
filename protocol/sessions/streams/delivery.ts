import type { Appended, LoggedEvent, NumberedEvent, Replay } from '../../store.js'
import type { LogRead, Sink, StreamLog } from './sink.js'
import { StreamConnections } from './stream-connections.js'
import type { ReaderListener } from './stream-options.js'

export interface DeliveryEvents {
  /** The log has it that the stream has ended. */
  onEnded: () => void
  /** Runs when the events that a client misses could not be read. */
  onUnavailable: () => void
  /** A connection was removed. */
  onDetached: () => void
}

/**
 * Writes the events of a stream to its connections, in order and each once. Each event names the one before it; where
 * that was not sent yet, what is missing is read first. Nothing here is called while an earlier call has not settled,
 * but for `detach`.
 */
export class Delivery {
  readonly connections = new StreamConnections()
  readonly #key: string
  /** True when the client knows events without data. */
  readonly #primed: boolean
  readonly #log: StreamLog
  readonly #events: DeliveryEvents
  readonly #reader: ReaderListener | undefined
  /** The highest number that this node knows of. */
  highest = 0
  /** True when a client is connected, and the store could not be asked to make this node the reader. */
  #isUnattached = false

  constructor (key: string, log: StreamLog, primed: boolean, events: DeliveryEvents, reader?: ReaderListener) {
    this.#key = key
    this.#primed = primed
    this.#log = log
    this.#events = events
    this.#reader = reader
  }

  /**
   * Writes what was read to a new connection, and then new events. A client that resumes comes back when the log cannot
   * be read; one that begins is served all the same, and gets the rest later.
   */
  connect (sink: Sink, read: LogRead, resumes: boolean, retry: number): void {
    const replay = typeof read === 'object' ? read : undefined
    if (replay === undefined && resumes) return this.disconnectFrom([sink])
    this.#isUnattached = replay === undefined
    this.connections.connect(sink, replay?.after)
    this.prime(sink, replay?.after ?? 0, retry)
    if (replay !== undefined) this.#replay(replay, [sink], true)
  }

  /** Opens a connection with an event without data, so that its client can resume before the first message. */
  prime (sink: Sink, after: number, retry: number): void {
    if (this.#primed) sink.write({ id: `${this.#key}-${after}`, text: '', retry })
  }

  /** Writes an event, unless it was replayed when the client connected; a promise when others have to be read first. */
  deliver (event: NumberedEvent, wasSeen: boolean): Promise<void> | undefined {
    const { current, lastSent = event.after } = this.connections
    if (current === undefined || event.number <= lastSent) return
    if (event.after > lastSent) return this.catchUp()
    this.#write(event)
    // A client has connected meanwhile, or another node stored the event.
    if (!wasSeen && this.connections.countsAsSeen) this.#log.markSeen(event.number)
  }

  /** Writes an event that is not stored, or not yet. */
  writeUnnumbered (event: LoggedEvent, isLate: boolean): void {
    this.connections.write(event, isLate ? this.connections.lastSent : undefined)
    if (!isLate) this.#skip()
  }

  /** An event that was written before it was stored has a place now: the client learns that it may resume after it. */
  acknowledge (place: Appended): void {
    if (place === undefined) return this.#skip()
    if (typeof place === 'string') return
    const { current, lastSent } = this.connections
    this.highest = Math.max(this.highest, place.number)
    if (lastSent !== place.after) return
    this.connections.lastSent = place.number
    if (this.#primed) current?.write({ id: `${this.#key}-${place.number}`, text: '' })
  }

  /** Reads what is missing. When that is no longer stored, the client has to learn it: it resumes, and is refused. */
  async catchUp (): Promise<void> {
    const { newest, lastSent } = this.connections
    if (newest === undefined) return
    const isUnattached = this.#isUnattached
    const [isReader, replay] = await Promise.all(isUnattached
      ? [true, this.#log.attach(lastSent)]
      : [this.#log.isReader(), this.#log.read(lastSent)])
    if (replay === 'unavailable') return this.#events.onUnavailable()
    if (isUnattached && replay === undefined) return
    this.#isUnattached = false
    if (!isReader) this.leave()
    if (replay === undefined) return this.disconnectFrom(this.connections.all)
    if (replay.ended) this.#events.onEnded()
    this.#replay(isReader ? replay : { ...replay, events: [] }, this.connections.all, this.connections.countsAsSeen)
  }

  /**
   * Leaves the client to another node if that has become the reader. The client may have come back here before the news
   * that it has left.
   */
  async checkReader (): Promise<void> {
    if (!await this.#log.isReader()) this.leave()
  }

  leave (): void {
    this.connections.leave()
    this.#reader?.onMoved()
  }

  detach (sink: Sink): void {
    this.connections.remove(sink)
    this.#events.onDetached()
  }

  /** Ends those of the connections that are still there. */
  disconnectFrom (sinks: Sink[]): void {
    for (const sink of sinks) {
      if (!this.connections.has(sink)) continue
      this.detach(sink)
      sink.end()
    }
  }

  // Uses up a number, so that the gap shows, and forgets the last one sent: the next event need not follow on it.
  #skip (): void {
    this.highest++
    this.connections.lastSent = undefined
  }

  #replay ({ events, ended }: Replay, sinks: Sink[], seen: boolean): void {
    for (const event of events) this.#write(event)
    if (events.length > 0 && seen) this.#log.markSeen(this.connections.lastSent ?? 0)
    if (ended) this.disconnectFrom(sinks)
  }

  #write ({ number, text, method }: NumberedEvent): void {
    this.highest = Math.max(this.highest, number)
    this.connections.write({ id: `${this.#key}-${number}`, text, method }, number)
    this.#reader?.onWrite(text)
  }
}
