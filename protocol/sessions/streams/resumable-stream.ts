import { withTimeout } from '../../../lib/time.js'
import type { Appended, LoggedEvent, StreamNews } from '../../store.js'
import type { Channel } from '../../wire/channel.js'
import { Delivery } from './delivery.js'
import type { Sink, StreamLog } from './sink.js'
import type { StreamOptions } from './stream-options.js'

const RETRY_MS = 1_000
/** How long connections stay open while the end cannot be stored, in milliseconds. */
const END_TIMEOUT = 500
/** After how many milliseconds what could not be read is read again; a store that was away is read once it is back. */
const READ_AGAIN = 5_000
const DONE = Promise.resolve()
/** How many events of other nodes wait to be written; beyond that they are read from the log when it is their turn. */
const MAX_WAITING = 64

/**
 * A stream of a session that outlives its connections, and the process too where its log does. Events emitted while no
 * client is connected wait in the log. A client that sends the id of the last event it saw gets those after it, once
 * and in order. An event is stored before it is sent.
 *
 * Each event is written to one connection: the newest. An older one may be half-open, which the server cannot detect;
 * it stays open and gets nothing, so that two live clients do not close each other in turns. When the newest is closed,
 * the one before it is written to again; events written there do not count as seen, because its client may have left
 * long ago. The same holds for connections at two nodes.
 *
 * Other nodes may write to the stream, too. Each event names the one before it; where that was not sent yet, what is
 * missing is read first.
 */
export class ResumableStream implements Channel {
  readonly streams = true
  readonly key: string
  readonly #log: StreamLog
  readonly #options: StreamOptions
  readonly #onTrouble: (error: unknown) => void
  readonly #delivery: Delivery
  /** The last of the jobs that run one after the other: appending, connecting, ending. */
  #lastJob: Promise<void> = DONE
  /** Settles when the stream is stored, or could not be, and nothing is sent before; undefined until it is begun. */
  #begun: Promise<unknown> | undefined
  /** True when the stream is known to be stored. */
  #isStored: boolean
  readonly #onLate = (appended: Appended): void => this.#delivery.acknowledge(appended)
  /** How often the store was asked to make this node the reader. */
  #attached = 0
  /** How many events of other nodes wait to be written, and whether all that is missing will be read. */
  #waiting = 0
  #willCatchUp = false
  /** How many characters of events that are not stored wait for their turn. */
  #unkept = 0
  #readAgain: NodeJS.Timeout | undefined
  ended = false

  /** `onTrouble` takes what a job throws, such as a connection that cannot be written to; the jobs after it run. */
  constructor (key: string, log: StreamLog, options: StreamOptions, onTrouble: (error: unknown) => void = () => {}) {
    this.key = key
    this.#log = log
    this.#options = options
    this.#onTrouble = onTrouble
    this.#delivery = new Delivery(key, log, options.primed, {
      onEnded: () => { this.ended = true },
      onUnavailable: () => {
        this.#readAgain ??= setTimeout(() => { this.#readAgain = undefined; this.receive('more') }, READ_AGAIN).unref()
      },
      onDetached: () => this.#closeIfDone()
    }, options.reader)
    this.#isStored = options.interruptedResponse === undefined
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

  /** Connects a client: it gets the events after `after`, or those not seen yet, and new ones until a newer comes. */
  attach (sink: Sink, after?: number, retry = RETRY_MS): void {
    this.#connections.add(sink)
    if (this.#begun === undefined) return this.#attachFirst(sink, retry)
    this.#enqueue(async () => {
      // A node without a client does not become the reader: the client may have gone to another one.
      if (!this.#connections.has(sink)) return
      this.#attached++
      this.#options.reader?.onAttach()
      const replay = await this.#log.attach(after)
      this.#options.reader?.onAttached(typeof replay === 'object' ? replay.previous : undefined)
      if (this.#connections.has(sink)) this.#delivery.connect(sink, replay, after !== undefined, retry)
    })
  }

  /** Removes a connection that is closed; the stream goes on. */
  detach (sink: Sink): void {
    this.#delivery.detach(sink)
  }

  emit (text: string, method: string): void {
    if (!this.ended) this.#enqueue(this.#append({ text, method }))
  }

  /** Like `emit`, for what only the home of a session tells its client. */
  announce (text: string, method: string): void {
    if (!this.ended) this.#enqueue(this.#append({ text, method }, false, true))
  }

  /** Writes an event to the client that is connected, if there is one. It is not stored. */
  emitTransient (text: string, method: string): void {
    if (this.ended || !this.connected) return
    this.#unkept += text.length
    this.#enqueue(async () => {
      this.#unkept -= text.length
      this.#delivery.writeUnnumbered({ text, method }, true)
    })
  }

  unwritten (): number {
    return this.#unkept + (this.#connections.current?.unwritten?.() ?? 0)
  }

  isDetached (): boolean {
    return !this.connected
  }

  /** Takes what another node did to the stream; `more` also when news may have been lost. */
  receive (news: StreamNews): void {
    if (news === 'moved') return this.#enqueue(async () => await this.#delivery.checkReader())
    // The read that comes later has this event, too.
    if (this.#willCatchUp) return
    if (news === 'more' || this.#waiting >= MAX_WAITING) return this.#requestCatchUp()
    this.#waiting++
    this.#enqueue(async () => {
      this.#waiting--
      await this.#delivery.deliver(news, false)
    })
  }

  respond (text: string): void {
    if (this.#options.interruptedResponse === undefined) return this.emit(text, '')
    if (!this.ended) this.#endAfter(this.#append({ text, method: '' }, true))
  }

  end (): void {
    if (this.ended) return
    void this.#begin()
    const stored = withTimeout(this.#log.end(), END_TIMEOUT, () => {})
    this.#endAfter(async () => { await stored })
  }

  /** Ends all connections; clients may come back. */
  disconnect (): void {
    const sinks = this.#connections.all
    this.#enqueue(async () => this.#delivery.disconnectFrom(sinks))
  }

  release (retryMs: number): void {
    const sinks = this.#connections.all
    this.#enqueue(async () => {
      const { current } = this.#connections
      if (current !== undefined && sinks.includes(current)) current.write({ text: '', retry: retryMs })
      this.#delivery.disconnectFrom(sinks)
    })
  }

  get #connections (): Delivery['connections'] {
    return this.#delivery.connections
  }

  // No other node knows of the stream, so that the store does not have to be asked who reads it and what is in it.
  #attachFirst (sink: Sink, retry: number): void {
    this.#connections.connect(sink, 0)
    this.#enqueue(async () => { if (this.#connections.has(sink)) this.#delivery.prime(sink, 0, retry) })
  }

  /** Stores that the stream begins, unless an event has done so. */
  async #begin (): Promise<void> {
    await (this.#begun ??= this.#log.open(this.#options.interruptedResponse ?? ''))
  }

  /** Sends an event to the store; returns the job that delivers it. */
  #append (event: LoggedEvent, ends = false, announces = false): () => Promise<void> {
    const seen = this.#connections.countsAsSeen
    const attached = this.#attached
    const begins = this.#isStored ? undefined : this.#options.interruptedResponse
    const options = { last: this.#delivery.highest, begins, ends, announces, onLate: this.#onLate }
    const stored = this.#log.append(event, seen, options)
    this.#begun ??= stored
    return async () => {
      const appended = await stored
      const isLate = appended === 'late'
      if (isLate || appended === undefined) return this.#delivery.writeUnnumbered(event, isLate)
      this.#isStored = true
      // A client that has connected here since has got the event.
      if (appended === 'elsewhere') return attached === this.#attached ? this.#delivery.leave() : undefined
      if (appended === 'ended') return await this.#close()
      const { number, after } = appended
      this.#delivery.highest = number
      const caughtUp = this.#delivery.deliver({ text: event.text, method: event.method, number, after }, seen)
      if (caughtUp !== undefined) await caughtUp
    }
  }

  // Connections that come after this are served with the end of the stream.
  #endAfter (job: () => Promise<void>): void {
    this.ended = true
    const sinks = this.#connections.all
    this.#enqueue(async () => {
      await job()
      this.#delivery.disconnectFrom(sinks)
      this.#closeIfDone()
    })
  }

  #requestCatchUp (): void {
    this.#willCatchUp = true
    this.#enqueue(async () => {
      this.#willCatchUp = false
      await this.#delivery.catchUp()
    })
  }

  // This node was taken for dead. Its client gets what another node has written instead, unless that serves it now.
  async #close (): Promise<void> {
    this.ended = true
    await this.#delivery.catchUp()
    this.#delivery.disconnectFrom(this.#connections.all)
    this.#closeIfDone()
  }

  #enqueue (job: () => Promise<void>): void {
    this.#lastJob = this.#lastJob.then(job).catch(this.#onTrouble)
  }

  #closeIfDone (): void {
    if ((this.ended || this.#options.foreign === true) && !this.connected) this.#options.onClosed?.()
  }
}
