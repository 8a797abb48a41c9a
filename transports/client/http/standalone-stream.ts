import type { IncomingHttpHeaders } from 'node:http'
import type { Message } from '../../../protocol/wire/jsonrpc.js'
import { refusalOf, type Credential } from '../credential.js'
import type { LinkLimits } from '../link.js'
import { IncomingReply, isLarge } from '../reply-budget.js'
import { PausableSource, type UnaskedMessages } from '../unasked-messages.js'
import type { HttpExchange, ReplyReceiver } from './http-exchange.js'
import { isUnreachable } from './network-error.js'
import { bodyKind, ReplyBody } from './reply-body.js'

export interface StandaloneStreamEvents {
  open (lastEventId: string | undefined, receiver: ReplyReceiver): HttpExchange
  readonly unasked: UnaskedMessages
  message (message: Message): void
  /** The session is gone. */
  expired (): void
  /** The token that the stream is opened with, where that is not configured. */
  readonly credential: Credential | undefined
  /** The server cannot be reached any more. */
  unreachable (why: Error): void
}

const FIRST_DELAY = 1_000
const MAX_DELAY = 30_000
/** After how many failed attempts in a row the server counts as gone. */
const MAX_UNREACHABLE = 3

/**
 * The stream on which a legacy server sends what belongs to no request. It is opened again when it ends; a server may
 * have none.
 */
export class StandaloneStream implements ReplyReceiver {
  readonly #limits: LinkLimits
  readonly #events: StandaloneStreamEvents
  #exchange: HttpExchange | undefined
  #body: ReplyBody | undefined
  #source: PausableSource | undefined
  /** From when on a message is large. */
  #incoming: IncomingReply | undefined
  #lastEventId: string | undefined
  #retry: number | undefined
  #delay = FIRST_DELAY
  #unreachable = 0
  #wasOpen = false
  #token: string | undefined
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #onFirstHead: () => void = () => {}

  constructor (limits: LinkLimits, events: StandaloneStreamEvents) {
    this.#limits = limits
    this.#events = events
  }

  /** Settles when the stream is open, or turns out not to be there. */
  start (): Promise<void> {
    return new Promise(resolve => {
      this.#onFirstHead = resolve
      this.#open()
    })
  }

  close (): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#exchange?.abort()
    this.#incoming?.update(0)
    this.#onFirstHead()
  }

  onHead (status: number, headers: IncomingHttpHeaders): void {
    this.#onFirstHead()
    this.#unreachable = 0
    if (status === 200 && bodyKind(headers) === 'events') {
      this.#wasOpen = true
      // A message that is too long is left out: it belongs to no request.
      this.#body = new ReplyBody(
        'events',
        this.#limits.maxMessage,
        this.#limits.limits,
        (message, bytes) => this.#take(message, bytes),
        () => {},
        bytes => {
          if (this.#source !== undefined) this.#events.unasked.addLine(this.#source, bytes)
        }
      )
      if (this.#exchange !== undefined) {
        this.#source = new PausableSource(this.#body, this.#exchange, () => {
          if (this.#incoming !== undefined) this.#count()
        })
      }
    } else {
      this.#exchange?.abort()
      if (status >= 500 || status === 429) this.#reopen()
      else if (status === 404 && this.#wasOpen) this.#events.expired()
      else if (status === 401 && this.#wasOpen) this.#renew(status, headers)
      // Any other status: the server offers no such stream.
    }
  }

  onData (chunk: Buffer): void {
    const body = this.#body
    body?.push(chunk)
    if (this.#incoming !== undefined || isLarge(body?.size ?? 0)) this.#count()
    // Something came, so the next attempt need not wait long.
    this.#delay = FIRST_DELAY
  }

  onEnd (): void {
    this.#body?.end()
    this.#reopen()
  }

  onError (error: Error): void {
    this.#onFirstHead()
    if (isUnreachable(error.cause) && ++this.#unreachable >= MAX_UNREACHABLE) this.#events.unreachable(error)
    else this.#reopen()
  }

  #count (): void {
    if (this.#source !== undefined) this.#incoming ??= new IncomingReply(this.#limits.replies, this, this.#source)
    this.#incoming?.update(this.#isClosed ? 0 : this.#body?.size ?? 0)
  }

  #open (): void {
    if (this.#isClosed) return
    this.#token = this.#events.credential?.token
    this.#exchange = this.#events.open(this.#lastEventId, this)
  }

  #take (message: Message, bytes: number): void {
    if (this.#isClosed) return
    if (this.#source !== undefined) this.#events.unasked.add(this.#source, message, bytes)
    this.#events.message(message)
  }

  #renew (status: number, headers: IncomingHttpHeaders): void {
    const { credential } = this.#events
    const refusal = refusalOf(credential, this.#token, status, headers)
    // Where there is no other token, the next call tells its caller.
    if (refusal !== undefined) credential?.renew(refusal).then(() => this.#reopen(), () => {})
  }

  #reopen (): void {
    if (this.#isClosed) return
    this.#lastEventId = this.#body?.lastEventId ?? this.#lastEventId
    this.#retry = this.#body?.retry ?? this.#retry
    this.#body = undefined
    this.#incoming?.update(0)
    this.#incoming = undefined
    const delay = Math.min(Math.max(this.#retry ?? 0, this.#delay), MAX_DELAY)
    this.#delay = Math.min(2 * this.#delay, MAX_DELAY)
    this.#timer = setTimeout(() => this.#open(), delay).unref()
  }
}
