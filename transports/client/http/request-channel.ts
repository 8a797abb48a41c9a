import type { IncomingHttpHeaders } from 'node:http'
import type { Channel } from '../../../protocol/wire/channel.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { Id, Message, Response } from '../../../protocol/wire/jsonrpc.js'
import { refusalOf, type Credential } from '../credential.js'
import type { LinkEvents, LinkRequest, LinkLimits } from '../link.js'
import type { HttpExchange, ReplyReceiver } from './http-exchange.js'
import { IncomingReply, isLarge } from '../reply-budget.js'
import { isList } from '../report-messages.js'
import { bodyKind, ReplyBody } from './reply-body.js'
import { Resumption } from './resumption.js'
import { PausableSource, type UnaskedMessages } from '../unasked-messages.js'

/** The part of a link that the channel of a request uses. */
export interface RequestHost {
  readonly limits: LinkLimits
  readonly unasked: UnaskedMessages
  readonly events: LinkEvents
  readonly hasSession: boolean
  readonly credential: Credential | undefined
  /** True once the server does not know the session any more: nothing is sent. */
  isExpired: boolean
  /** Settles at the end of the handshake, which requests have to wait for. Never rejects. */
  readonly ready: Promise<void> | undefined
  /** Sends the request. Undefined when too much waits already. */
  post (request: LinkRequest, text: string, receiver: ReplyReceiver): HttpExchange | undefined
  /** Opens the stream of a request again after an event. */
  resume (lastEventId: string, receiver: ReplyReceiver): HttpExchange
  /** Sends a message that is no request, of a caller. */
  send (text: string, method: string | undefined, caller?: string): void
  /**
   * Takes what the head of a reply says about the session and the path. False when the server does not know the session
   * any more.
   */
  readHead (request: LinkRequest, status: number, headers: IncomingHttpHeaders, path: string): boolean
  /** Says what an HTTP error status means for a request that was sent with this token. */
  explain (status: number, headers: IncomingHttpHeaders, token: string | undefined): Error
  /** The request is over. */
  release (channel: RequestChannel): void
}

/** How long a stream may stay open after its response; servers close it with the response or right after. */
const LINGER = 1_000

const NOT_OURS = errors.invalidRequest('a response on the stream of another request')
const FOREIGN: Message = { kind: 'invalid', id: undefined, error: NOT_OURS }

const describeForeignType = (status: number): string =>
  `the Content-Type of its answer is neither application/json nor text/event-stream (status ${status}); ` +
  'see that "url" of this server is that of its MCP endpoint'

/** The channel of one request: its POST, and the reply or stream that answers it. */
export class RequestChannel implements Channel, ReplyReceiver {
  readonly streams = true
  readonly #host: RequestHost
  readonly #request: LinkRequest
  readonly #isStateless: boolean
  #exchange: HttpExchange | undefined
  #body: ReplyBody | undefined
  #source: PausableSource | undefined
  /** From when on it is large. */
  #incoming: IncomingReply | undefined
  /** That of the reply; 0 before its head has come. */
  #status = 0
  #headers: IncomingHttpHeaders = {}
  /** The token that it was sent with. */
  #token: string | undefined
  #isSent = false
  #isDone = false
  #invalid: string | undefined
  #resumption: Resumption | undefined
  #timer: NodeJS.Timeout | undefined

  constructor (host: RequestHost, request: LinkRequest) {
    this.#host = host
    this.#request = request
    this.#isStateless = request.version !== undefined
  }

  get id (): Id {
    return this.#request.id
  }

  /** The first text is the request, `notifications/cancelled` takes it back. */
  emit (text: string, method: string): void {
    if (!this.#isSent) this.#post(text)
    else if (method !== 'notifications/cancelled') this.#host.send(text, method, this.#request.caller)
    else if (!this.#isDone) this.#cancel(text, method)
  }

  respond (text: string): void {
    this.#host.send(text, undefined, this.#request.caller)
  }

  end (): void {}

  /** Ends it without a report. */
  drop (): void {
    this.#isDone = true
    clearTimeout(this.#timer)
    this.#exchange?.abort()
    this.#incoming?.update(0)
    this.#host.release(this)
  }

  onHead (status: number, headers: IncomingHttpHeaders, path: string): void {
    if (!this.#host.readHead(this.#request, status, headers, path)) return this.#expire()
    this.#status = status
    this.#headers = headers
    if (status === 204 || status === 205) return this.#fail(`it answered with status ${status}, which has no content`)
    const kind = bodyKind(headers)
    const isGood = status >= 200 && status < 300
    const isRefused = status === 401 || refusalOf(this.#host.credential, this.#token, status, headers) !== undefined
    if (isRefused || (kind !== 'json' && !isGood)) return this.#failWithStatus()
    if (kind === 'other') {
      return this.#fail(status === 202 ? 'it accepted the request without an answer' : describeForeignType(status))
    }
    if (Number(headers['content-length']) > this.#host.limits.maxMessage) return this.#failTooLong()
    const { maxMessage, limits, listLimits } = this.#host.limits
    this.#body = new ReplyBody(
      kind,
      maxMessage,
      isList(this.#request.method) ? listLimits : limits,
      (message, bytes) => this.#take(message, bytes),
      () => this.#failTooLong(),
      bytes => {
        if (this.#source !== undefined) this.#host.unasked.addLine(this.#source, bytes)
      }
    )
    if (this.#exchange !== undefined) {
      this.#source = new PausableSource(this.#body, this.#exchange, () => {
        if (this.#incoming !== undefined) this.#count()
      })
    }
  }

  onData (chunk: Buffer): void {
    const body = this.#body
    if (this.#isDone || body === undefined) return
    body.push(chunk)
    if (this.#incoming !== undefined || isLarge(body.size)) this.#count()
  }

  onEnd (): void {
    if (!this.#isDone) this.#body?.end()
    if (this.#isDone) return this.drop()
    if (this.#status >= 400) return this.#failWithStatus()
    const isStream = this.#body?.isStream === true
    const missing = isStream ? 'its stream ended without the response' : 'its answer is not the response to the request'
    this.#breakOff(new Error(this.#invalid ?? missing))
  }

  onError (error: Error): void {
    if (this.#isDone) this.drop()
    else this.#breakOff(error)
  }

  #count (): void {
    if (this.#source !== undefined) {
      this.#incoming ??= new IncomingReply(this.#host.limits.replies, this.#request.caller ?? this.#host, this.#source)
    }
    this.#incoming?.update(this.#isDone ? 0 : this.#body?.size ?? 0)
  }

  #post (text: string): void {
    this.#isSent = true
    const { ready } = this.#host
    if (ready === undefined) this.#start(text)
    else void ready.then(() => { if (!this.#isDone) this.#start(text) })
  }

  #start (text: string): void {
    if (this.#host.isExpired) return this.#expire()
    this.#token = this.#host.credential?.token
    this.#exchange = this.#host.post(this.#request, text, this)
    if (this.#exchange === undefined) this.#fail('too much waits to be sent to it already; try again later')
  }

  #cancel (text: string, method: string): void {
    this.drop()
    // Without a session, the end of the stream is the cancellation. `initialize` cannot be cancelled.
    if (!this.#isStateless && this.#request.method !== 'initialize') this.#host.send(text, method, this.#request.caller)
  }

  #take (message: Message, bytes: number): void {
    if (this.#isDone) return
    if (message.kind === 'invalid') this.#invalid = `its answer cannot be read: ${message.error.message}`
    // The response to another request counts on the stream of that request only.
    const isForeign = message.kind === 'response'
    if (!this.#isAnswer(message)) {
      if (this.#source !== undefined) this.#host.unasked.add(this.#source, message, bytes)
      this.#host.events.message(isForeign ? FOREIGN : message, this)
      return
    }
    if (this.#isAboutSession(message)) {
      this.#host.isExpired = true
      return this.#expire()
    }
    this.#isDone = true
    if (this.#body?.isStream === true) this.#timer = setTimeout(() => this.drop(), LINGER).unref()
    const status = this.#status === 200 ? undefined : this.#status
    this.#host.events.message({ ...message, id: this.#request.id }, this, status)
  }

  /** An error without an id in the reply to a request is about that request. */
  #isAnswer (message: Message): message is Response {
    return (
      message.kind === 'response' &&
      (message.id === this.#request.id || (message.id === undefined && message.error !== undefined))
    )
  }

  /**
   * Servers made after the examples of the official SDK answer so when they do not know a session, and not with 404 as
   * the specification says.
   */
  #isAboutSession ({ id, error }: Response): boolean {
    return this.#status === 400 && id === undefined && this.#host.hasSession && /session/i.test(error?.message ?? '')
  }

  /** The reply broke off. Where the server gave the events ids, the rest can be fetched. */
  #breakOff (error: Error): void {
    const plan = this.#isStateless ? undefined : (this.#resumption ??= new Resumption()).plan(this.#body)
    if (plan === undefined) return this.#fail(error.message)
    if (plan === 'too often') return this.#fail(`its stream broke off and could not be resumed: ${error.message}`)
    this.#body = undefined
    this.#incoming?.update(0)
    this.#incoming = undefined
    this.#timer = setTimeout(() => { this.#exchange = this.#host.resume(plan.after, this) }, plan.delay).unref()
  }

  #expire (): void {
    this.drop()
    this.#host.events.expired?.(this.#request.id)
  }

  #failTooLong (): void {
    this.#fail(`its answer has more than ${this.#host.limits.maxMessage} bytes (limit maxUpstreamMessage)`)
  }

  #failWithStatus (): void {
    this.#fail(this.#host.explain(this.#status, this.#headers, this.#token))
  }

  #fail (why: Error | string): void {
    this.drop()
    const error = typeof why === 'string' ? new Error(why) : why
    this.#host.events.failed(this.#request.id, error, this.#status === 0 ? undefined : this.#status)
  }
}
