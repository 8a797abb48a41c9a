import type { Pool } from 'undici'
import { HttpExchange, type HttpRequest, type ReplyReceiver } from './http-exchange.js'

export interface HttpClientOptions {
  /** The most connections for requests; answers, notifications and streams have some of their own, so that they never wait for a call. */
  readonly connections: number
  /** The most bytes of requests that wait for a connection. */
  readonly maxQueue: number
}

/** How many connections there are for what must not wait behind calls. */
const CONTROL_CONNECTIONS = 8
const CONNECT_TIMEOUT = 10_000
const MAX_HEADERS = 65_536

/** Sends HTTP requests to one origin. */
export class HttpClient {
  readonly origin: string
  readonly #calls: Pool
  readonly #control: Pool
  readonly #streams: Pool
  readonly #maxQueue: number
  #queued = 0

  constructor (Pool: new (origin: string, options: Pool.Options) => Pool, origin: string, { connections, maxQueue }: HttpClientOptions) {
    this.origin = origin
    this.#maxQueue = maxQueue
    // The deadlines of calls bound how long a reply may take.
    const options = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: MAX_HEADERS, connect: { timeout: CONNECT_TIMEOUT } }
    this.#calls = new Pool(origin, { ...options, connections })
    this.#control = new Pool(origin, { ...options, connections: CONTROL_CONNECTIONS })
    this.#streams = new Pool(origin, { ...options, connections })
  }

  /** Sends a request whose reply may take any time. Undefined when too much waits already. */
  call (request: HttpRequest, receiver: ReplyReceiver): HttpExchange | undefined {
    const size = Buffer.byteLength(request.body ?? '')
    if (this.#queued > 0 && this.#queued + size > this.#maxQueue) return undefined
    this.#queued += size
    return new HttpExchange(this.#calls, this.origin, request, receiver, () => { this.#queued -= size }).start()
  }

  /** Sends what must not wait: notifications, answers, the end of a session. */
  control (request: HttpRequest, receiver: ReplyReceiver): HttpExchange {
    return new HttpExchange(this.#control, this.origin, request, receiver).start()
  }

  /** Opens an event stream. */
  stream (request: HttpRequest, receiver: ReplyReceiver): HttpExchange {
    return new HttpExchange(this.#streams, this.origin, request, receiver).start()
  }

  /** Ends all connections. Never rejects. */
  async close (): Promise<void> {
    await Promise.allSettled([this.#calls.destroy(), this.#control.destroy(), this.#streams.destroy()])
  }
}
