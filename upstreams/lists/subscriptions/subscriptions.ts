import { callEach } from '../../../lib/listeners.js'
import { errors } from '../../../protocol/wire/errors.js'
import { QueueShares } from '../../../transports/client/queue-shares.js'
import type { Connection } from '../../ports.js'
import { canSubscribe, ListenStreams } from './listen-streams.js'

/** How much of an upstream clients watch together, in characters of URIs, each counted with so many more. */
const MAX_TEXT = 1_048_576
const EXTRA = 100

interface Watched {
  readonly listeners: Set<() => void>
  readonly caller: string
  readonly counted: number
  begun: Promise<void>
}

export interface SubscriptionsOptions {
  readonly alias: string
  /** How long the upstream has to answer, in milliseconds. */
  readonly timeout: number
  /** Opens a connection when there is none. */
  readonly start: () => void
  /** Runs when list changes may have been missed. */
  readonly resumed: () => void
}

/**
 * The resources of one upstream that clients watch: one subscription for each URI, made again on every new connection.
 */
export class Subscriptions {
  readonly #options: SubscriptionsOptions
  readonly #watched = new Map<string, Watched>()
  readonly #shares = new QueueShares(MAX_TEXT)
  #connection: Connection | undefined
  #streams: ListenStreams | undefined

  constructor (options: SubscriptionsOptions) {
    this.#options = options
  }

  /**
   * Calls `changed` for each update until the returned function is called. Rejects when the upstream refuses the
   * subscription, or the caller has too many.
   */
  async watch (uri: string, changed: () => void, caller: string): Promise<() => void> {
    const known = this.#watched.get(uri)
    const watched = known ?? this.#add(uri, caller)
    watched.listeners.add(changed)
    if (known === undefined) watched.begun = this.#subscribe(uri, caller)
    const stop = (): void => this.#remove(uri, watched, changed)
    await watched.begun.catch((error: unknown) => {
      stop()
      throw error
    })
    return stop
  }

  /** Uses another connection from now on. */
  attach (connection: Connection): void {
    const isAgain = this.#connection !== undefined
    this.#connection = connection
    this.#streams?.close()
    this.#streams = connection.revision?.stateless === true
      ? new ListenStreams(connection, this.#options.resumed, uri => this.#notify(uri))
      : undefined
    connection.onNotification((method, { uri }) => {
      if (method === 'notifications/resources/updated' && typeof uri === 'string') this.#notify(uri)
    })
    for (const [uri, { caller }] of this.#watched) this.#subscribe(uri, caller).catch(() => {})
    // Updates may have been missed while there was no connection.
    if (isAgain) for (const uri of this.#watched.keys()) this.#notify(uri)
  }

  close (): void {
    this.#streams?.close()
    this.#watched.clear()
  }

  #add (uri: string, caller: string): Watched {
    const counted = this.#shares.enter(caller, uri.length + EXTRA)
    if (counted === undefined) {
      throw errors.upstreamUnavailable(
        this.#options.alias,
        'this caller watches too many of its resources already, and others need their share; end some subscriptions'
      )
    }
    const watched = { listeners: new Set<() => void>(), caller, counted, begun: Promise.resolve() }
    this.#watched.set(uri, watched)
    return watched
  }

  #notify (uri: string): void {
    callEach(this.#watched.get(uri)?.listeners ?? [], () => {})
  }

  async #subscribe (uri: string, caller: string): Promise<void> {
    const connection = this.#connection
    if (connection === undefined || connection.closed) this.#options.start()
    else if (this.#streams !== undefined) this.#streams.add(uri)
    else if (canSubscribe(connection)) await this.#request(connection, 'resources/subscribe', uri, caller)
  }

  #remove (uri: string, watched: Watched, changed: () => void): void {
    if (!watched.listeners.delete(changed) || watched.listeners.size > 0 || this.#watched.get(uri) !== watched) return
    this.#watched.delete(uri)
    this.#shares.leave(watched.caller, watched.counted)
    const connection = this.#connection
    if (connection === undefined || connection.closed) return
    if (this.#streams !== undefined) this.#streams.remove(uri)
    else if (canSubscribe(connection)) {
      this.#request(connection, 'resources/unsubscribe', uri, watched.caller).catch(() => {})
    }
  }

  /** A request that is never answered must not keep its connection for ever, nor those of other callers meanwhile. */
  async #request (connection: Connection, method: string, uri: string, caller: string): Promise<void> {
    const { alias, timeout } = this.#options
    const signal = AbortSignal.timeout(timeout)
    try {
      await connection.request({ method, params: { uri }, caller, signal })
    } catch (error) {
      throw signal.aborted ? errors.upstreamFailed(alias, `it did not answer ${method} within ${timeout} ms`) : error
    }
  }
}
