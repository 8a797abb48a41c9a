import type { Pool } from 'undici'
import { HttpExchange, type ExchangeObserver, type HttpRequest, type ReplyReceiver } from './http-exchange.js'
import { SocketShares } from './socket-shares.js'

export interface HttpClientOptions {
  /** The most connections for requests; answers, notifications and streams have some of their own, so that they never wait for a call. */
  readonly connections: number
  /** The most bytes of requests that wait for a connection. */
  readonly maxQueue: number
}

/** How many connections there are for what must not wait behind calls. */
const CONTROL_CONNECTIONS = 8
/** About how many bytes a request takes besides its body. */
const REQUEST_SIZE = 1_024
const CONNECT_TIMEOUT = 10_000
const MAX_HEADERS = 65_536

/** Sends HTTP requests to one origin. */
export class HttpClient {
  readonly origin: string
  readonly #calls: Pool
  readonly #control: Pool
  readonly #streams: Pool
  readonly #maxQueue: number
  readonly #queued = { calls: 0, control: 0 }
  readonly #shares: SocketShares

  constructor (Pool: new (origin: string, options: Pool.Options) => Pool, origin: string, { connections, maxQueue }: HttpClientOptions) {
    this.origin = origin
    this.#maxQueue = maxQueue
    this.#shares = new SocketShares(connections)
    // The deadlines of calls bound how long a reply may take.
    const options = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADERS, connect: { timeout: CONNECT_TIMEOUT } }
    this.#calls = new Pool(origin, { ...options, connections })
    this.#control = new Pool(origin, { ...options, connections: CONTROL_CONNECTIONS })
    this.#streams = new Pool(origin, { ...options, connections })
  }

  /** Sends a request whose reply may take any time; one of a caller waits while the caller has its share of the connections. Undefined when too much waits already. */
  call (request: HttpRequest, receiver: ReplyReceiver, caller: string | undefined): HttpExchange | undefined {
    return this.#send('calls', this.#calls, request, receiver, caller)
  }

  /** Sends what must not wait for calls: notifications, answers, the end of a session. Undefined when too much of it waits already. */
  control (request: HttpRequest, receiver: ReplyReceiver): HttpExchange | undefined {
    return this.#send('control', this.#control, request, receiver, undefined)
  }

  /** Opens an event stream. */
  stream (request: HttpRequest, receiver: ReplyReceiver): HttpExchange {
    return new HttpExchange(this.#streams, this.origin, request, receiver).start()
  }

  #send (lane: 'calls' | 'control', pool: Pool, request: HttpRequest, receiver: ReplyReceiver, caller: string | undefined): HttpExchange | undefined {
    const size = Buffer.byteLength(request.body ?? '') + REQUEST_SIZE
    if (this.#queued[lane] > 0 && this.#queued[lane] + size > this.#maxQueue) return undefined
    this.#queued[lane] += size
    const exchange = new HttpExchange(pool, this.origin, request, receiver, new Place(this.#queued, lane, size, this.#shares, caller))
    if (caller === undefined) return exchange.start()
    this.#shares.begin(caller, exchange)
    return exchange
  }

  /** Ends all connections. Never rejects. */
  async close (): Promise<void> {
    await Promise.allSettled([this.#calls.destroy(), this.#control.destroy(), this.#streams.destroy()])
  }
}

/** What one request takes of a client. */
class Place implements ExchangeObserver {
  readonly #queued: { calls: number, control: number }
  readonly #lane: 'calls' | 'control'
  readonly #size: number
  readonly #shares: SocketShares
  readonly #caller: string | undefined

  constructor (queued: { calls: number, control: number }, lane: 'calls' | 'control', size: number, shares: SocketShares, caller: string | undefined) {
    this.#queued = queued
    this.#lane = lane
    this.#size = size
    this.#shares = shares
    this.#caller = caller
  }

  started (): void {
    this.#queued[this.#lane] -= this.#size
  }

  ended (exchange: HttpExchange): void {
    if (this.#caller !== undefined) this.#shares.end(this.#caller, exchange)
  }
}
