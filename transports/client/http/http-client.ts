import type { LookupFunction } from 'node:net'
import type { Pool } from 'undici'
import { HttpExchange, type ExchangeObserver, type HttpRequest, type ReplyReceiver } from './http-exchange.js'
import { QueueShares } from '../queue-shares.js'
import { SocketShares } from './socket-shares.js'

export interface HttpClientOptions {
  /**
   * The most connections for requests; answers, notifications and streams have some of their own, so that they never
   * wait for a call.
   */
  readonly connections: number
  /** The most bytes of requests that wait for a connection. One caller has at most half of what the others leave. */
  readonly maxQueue: number
  /** Finds the addresses of host names; the system does where it is absent. */
  readonly lookup?: LookupFunction | undefined
}

/** How many connections there are for what must not wait behind calls. */
const CONTROL_CONNECTIONS = 8
/** About how many bytes a request takes besides its body. */
const REQUEST_SIZE = 1_024
const CONNECT_TIMEOUT = 10_000
const MAX_HEADERS = 65_536

/** Requests that do not wait for those of other kinds. */
type Kind = 'calls' | 'control' | 'streams'

/** Sends HTTP requests to one origin. */
export class HttpClient {
  readonly origin: string
  /** Opened with the first request of its kind: one takes 18 KiB, and many servers need a single one. */
  readonly #pools = new Map<Kind, Pool>()
  readonly #open: (kind: Kind) => Pool
  readonly #waitingCalls: QueueShares
  readonly #waitingControl: QueueShares
  readonly #shares: SocketShares
  #isClosed = false

  constructor (
    Pool: new (origin: string, options: Pool.Options) => Pool,
    origin: string,
    { connections, maxQueue, lookup }: HttpClientOptions
  ) {
    this.origin = origin
    this.#waitingCalls = new QueueShares(maxQueue)
    this.#waitingControl = new QueueShares(maxQueue)
    this.#shares = new SocketShares(connections)
    // The deadlines of calls bound how long a reply may take.
    const options: Pool.Options = {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADERS,
      connect: { timeout: CONNECT_TIMEOUT, ...(lookup !== undefined && { lookup }) }
    }
    this.#open = kind => new Pool(origin, { ...options, connections: kind === 'control' ? CONTROL_CONNECTIONS : connections })
  }

  /**
   * Sends a request whose reply may take any time; one of a caller waits while the caller has its share of the
   * connections. Undefined when too much of the caller waits already.
   */
  call (request: HttpRequest, receiver: ReplyReceiver, caller: string | undefined): HttpExchange | undefined {
    const size = this.#waitingCalls.enter(caller, sizeOf(request))
    if (size === undefined) return undefined
    const exchange = new HttpExchange(
      this.#pool('calls'),
      this.origin,
      request,
      receiver,
      new Place(this.#waitingCalls, caller, size, this.#shares)
    )
    if (caller === undefined) return exchange.start()
    this.#shares.begin(caller, exchange)
    return exchange
  }

  /**
   * Sends what must not wait for calls: notifications, answers, the end of a session. Undefined when too much of it
   * waits already for this caller.
   */
  control (request: HttpRequest, receiver: ReplyReceiver, caller?: string): HttpExchange | undefined {
    const size = this.#waitingControl.enter(caller, sizeOf(request))
    return size === undefined
      ? undefined
      : new HttpExchange(
        this.#pool('control'),
        this.origin,
        request,
        receiver,
        new Place(this.#waitingControl, caller, size)
      ).start()
  }

  /** Opens an event stream. */
  stream (request: HttpRequest, receiver: ReplyReceiver): HttpExchange {
    return new HttpExchange(this.#pool('streams'), this.origin, request, receiver).start()
  }

  /** Ends all connections. Never rejects. */
  async close (): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled([...this.#pools.values()].map(async pool => await pool.destroy()))
  }

  #pool (kind: Kind): Pool {
    const opened = this.#pools.get(kind)
    if (opened !== undefined) return opened
    const pool = this.#open(kind)
    this.#pools.set(kind, pool)
    // Fails what is sent from now on.
    if (this.#isClosed) void pool.destroy()
    return pool
  }
}

const sizeOf = ({ body = '' }: HttpRequest): number => Buffer.byteLength(body) + REQUEST_SIZE

/** The place of one request in the queue, and its share of the sockets. */
class Place implements ExchangeObserver {
  readonly #queue: QueueShares
  readonly #caller: string | undefined
  readonly #size: number
  readonly #shares: SocketShares | undefined

  constructor (queue: QueueShares, caller: string | undefined, size: number, shares?: SocketShares) {
    this.#queue = queue
    this.#caller = caller
    this.#size = size
    this.#shares = shares
  }

  started (): void {
    this.#queue.leave(this.#caller, this.#size)
  }

  ended (exchange: HttpExchange): void {
    if (this.#caller !== undefined) this.#shares?.end(this.#caller, exchange)
  }
}
