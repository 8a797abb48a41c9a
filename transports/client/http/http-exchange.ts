import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { describeNetworkError } from './network-error.js'

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE' | 'HEAD' | 'PUT' | 'PATCH' | 'OPTIONS' | 'TRACE'
  readonly path: string
  /** Names and values in turn. */
  readonly headers: string[]
  readonly body?: string | Buffer
  /** How long the reply may be silent, in milliseconds; any time when absent. */
  readonly timeout?: number
  /** The longest body, in bytes, where it is not read. */
  readonly maxBody?: number
  /** True where the receiver decompresses; otherwise a compressed reply is an error, as none is asked for. */
  readonly isDecompressed?: boolean
}

/** Takes what comes back for one HTTP request. After `onEnd` or `onError` nothing comes any more. */
export interface ReplyReceiver {
  /** `path` is where the request went in the end. */
  onHead (status: number, headers: IncomingHttpHeaders, path: string): void
  onData (chunk: Buffer): void
  onEnd (): void
  /** The message can be shown to clients; the cause cannot. */
  onError (error: Error): void
}

/** Hears of what an exchange uses. */
export interface ExchangeObserver {
  /** It does not wait for a connection any more. Called once, also when it ends before. */
  started (): void
  /** It is over. Called once. */
  ended (exchange: HttpExchange): void
}

/** The most redirects that one request follows. */
const MAX_REDIRECTS = 3
/** The most replies with a status below 200 that may come before the answer. */
const MAX_INFORMATIONAL = 100

/**
 * One HTTP request and its reply. Redirects are followed to the same origin only: headers of the configuration must not
 * reach another.
 */
export class HttpExchange {
  readonly #dispatcher: Dispatcher
  readonly #origin: string
  readonly #request: HttpRequest
  readonly #receiver: ReplyReceiver
  readonly #observer: ExchangeObserver | undefined
  #path: string
  #redirects = 0
  #received = 0
  #attempt: Attempt | undefined
  #isStarted = false
  #isFinished = false

  constructor (
    dispatcher: Dispatcher,
    origin: string,
    request: HttpRequest,
    receiver: ReplyReceiver,
    observer?: ExchangeObserver
  ) {
    this.#dispatcher = dispatcher
    this.#origin = origin
    this.#request = request
    this.#receiver = receiver
    this.#observer = observer
    this.#path = request.path
  }

  start (): this {
    const { method, headers, body = null, timeout = 0 } = this.#request
    this.#attempt = new Attempt(this)
    this.#dispatcher.dispatch(
      { path: this.#path, method, headers, body, headersTimeout: timeout, bodyTimeout: timeout },
      this.#attempt
    )
    return this
  }

  /** True once something of it may have been sent, or it has ended before. */
  get isStarted (): boolean {
    return this.#isStarted
  }

  /** Ends the exchange; the receiver hears nothing more. */
  abort (): void {
    this.#finish()
  }

  /** Reads no more of the reply until `resume`. */
  pause (): void {
    this.#attempt?.controller?.pause()
  }

  resume (): void {
    this.#attempt?.resume()
  }

  onStart (): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#observer?.started()
  }

  onHead (status: number, headers: IncomingHttpHeaders): void {
    const encoding = headers['content-encoding']
    if (status === 304) this.fail('it answered with status 304, as if the answer were known already')
    else if (status >= 300 && status <= 399) this.#redirect(status, headers.location)
    else if (encoding !== undefined && encoding !== 'identity' && this.#request.isDecompressed !== true) {
      this.fail('its answer is compressed, which was not asked for')
    } else this.#receiver.onHead(status, headers, this.#path)
  }

  onData (chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#received > (this.#request.maxBody ?? Infinity)) this.fail('its answer is too long')
    else this.#receiver.onData(chunk)
  }

  onEnd (): void {
    this.#finish()
    this.#receiver.onEnd()
  }

  fail (why: string, cause?: Error): void {
    this.#finish()
    this.#receiver.onError(new Error(why, { cause }))
  }

  #redirect (status: number, location: string | undefined): void {
    const to =
      location !== undefined && URL.canParse(location, this.#origin + this.#path)
        ? new URL(location, this.#origin + this.#path)
        : undefined
    // With another status, a client may send something else than what was asked for, unless nothing is changed by it.
    const isKept = status === 307 || status === 308 || (this.#isReading && status <= 303)
    if (!isKept || to === undefined) {
      this.fail(`it answered with a redirect (status ${status}) that cannot be followed; configure the final URL`)
    } else if (to.origin !== this.#origin) {
      this.fail(
        'it redirects to another origin, which is not followed, because configured headers would go there; configure the final URL'
      )
    } else if (++this.#redirects > MAX_REDIRECTS) {
      this.fail(`it redirects more than ${MAX_REDIRECTS} times; configure the final URL`)
    } else {
      this.#path = to.pathname + to.search
      this.#attempt?.drop()
      this.start()
    }
  }

  get #isReading (): boolean {
    return this.#request.method === 'GET' || this.#request.method === 'HEAD'
  }

  #finish (): void {
    this.onStart()
    this.#attempt?.drop()
    if (this.#isFinished) return
    this.#isFinished = true
    this.#observer?.ended(this)
  }
}

/** One dispatch: the handler of undici, until it is dropped. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #exchange: HttpExchange
  controller: Dispatcher.DispatchController | undefined
  #isDropped = false
  #isOver = false
  #informational = 0

  constructor (exchange: HttpExchange) {
    this.#exchange = exchange
  }

  drop (): void {
    if (this.#isDropped) return
    this.#isDropped = true
    if (!this.#isOver) this.controller?.abort(new Error('the request was dropped'))
  }

  resume (): void {
    if (!this.#isDropped && !this.#isOver) this.controller?.resume()
  }

  onRequestStart (controller: Dispatcher.DispatchController): void {
    this.controller = controller
    this.#exchange.onStart()
    // It waited for a connection when it was dropped.
    if (this.#isDropped) controller.abort(new Error('the request was dropped'))
  }

  onResponseStart (_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#isDropped) return
    if (status >= 200) this.#exchange.onHead(status, headers)
    else if (++this.#informational > MAX_INFORMATIONAL) {
      this.#exchange.fail('it sent too many interim replies before its answer')
    }
  }

  onResponseData (_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isDropped) this.#exchange.onData(chunk)
  }

  onResponseEnd (): void {
    this.#isOver = true
    if (!this.#isDropped) this.#exchange.onEnd()
  }

  onResponseError (_controller: Dispatcher.DispatchController, error: Error): void {
    this.#isOver = true
    if (!this.#isDropped) this.#exchange.fail(describeNetworkError(error), error)
  }
}
