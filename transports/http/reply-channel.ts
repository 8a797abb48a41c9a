import type { FastifyReply } from 'fastify'
import type { Session } from '../../protocol/sessions/session.js'
import { narrowingOf } from '../../protocol/http/narrowing.js'
import type { Narrowing } from '../../protocol/wire/narrowing.js'
import type { Channel, Headers } from '../../protocol/wire/channel.js'
import type { SharedTail } from '../../protocol/wire/result.js'
import { sinkChannel } from './channels.js'
import type { EventStreamPort } from './gateway.js'
import { sendJson, sendPrepared } from './json-reply.js'

export interface ReplyOptions {
  /** Makes the reply resumable. */
  session?: Session
  /** The response its client gets when this process dies before it has answered. */
  interruptedResponse?: () => string
  /** Runs while headers can still be set; the response waits for its promise, or is replaced by what it resolves to. */
  beforeResponse?: () => Promise<Replacement | void> | undefined
}

export interface Replacement {
  readonly text: string
  readonly status: number
  readonly headers: Record<string, string> | undefined
}

const NO_OPTIONS: ReplyOptions = {}

/**
 * One HTTP reply: JSON when the response is the first message, an event stream as soon as another message precedes it.
 */
export class ReplyChannel implements Channel {
  readonly canStream = true
  readonly hasStatus = true
  readonly isRateCounted = true
  readonly narrowing: Narrowing | undefined
  readonly #eventStreams: EventStreamPort
  readonly #reply: FastifyReply
  readonly #options: ReplyOptions
  #stream: Channel | undefined
  #done = false

  /** Throws an HTTP error when the request is not to be narrowed as it asks. */
  constructor (eventStreams: EventStreamPort, reply: FastifyReply, options: ReplyOptions = NO_OPTIONS) {
    this.#eventStreams = eventStreams
    this.#reply = reply
    this.#options = options
    this.narrowing = narrowingOf(reply.request.query, reply.request.headers)
  }

  get headers (): Headers {
    return this.#reply.request.headers
  }

  get address (): string {
    return this.#reply.request.ip
  }

  /** False while as many streams are open as allowed and this is none of them: then only the response is sent. */
  get streams (): boolean {
    return this.#stream !== undefined || this.#options.session?.named === true || this.#eventStreams.hasCapacity
  }

  respond (text: string, status: number, headers?: Record<string, string>): void {
    this.#done = true
    const ready = this.#options.beforeResponse?.()
    if (ready === undefined) this.#send(text, status, headers)
    else {
      ready
        .then(instead => this.#send(instead?.text ?? text, instead?.status ?? status, instead?.headers ?? headers))
        .catch(error => this.#fail(error))
    }
  }

  respondShared (start: string, tail: SharedTail): void {
    if (this.#stream !== undefined) return this.respond(start + tail.text, 200)
    this.#done = true
    const ready = this.#options.beforeResponse?.()
    if (ready === undefined) sendPrepared(this.#reply, start, tail)
    else {
      ready
        .then(instead =>
          instead === undefined
            ? sendPrepared(this.#reply, start, tail)
            : this.#send(instead.text, instead.status, instead.headers)
        )
        .catch(error => this.#fail(error))
    }
  }

  emit (text: string, method: string): void {
    if (this.#options.session?.named === true) this.#options.session.standalone.emit(text, method)
    else if (!this.#done && this.streams) (this.#stream ??= this.#open()).emit(text, method)
  }

  emitTransient (text: string, method: string): void {
    if (this.#done || !this.streams || this.#isReadElsewhere) return this.emit(text, method)
    const channel = this.#emitsTo ?? (this.#stream = this.#open())
    if (channel.emitTransient === undefined) channel.emit(text, method)
    else channel.emitTransient(text, method)
  }

  unwritten (): number {
    return this.#emitsTo?.unwritten?.() ?? 0
  }

  isDetached (): boolean {
    return !this.#isReadElsewhere && this.#emitsTo?.isDetached?.() === true
  }

  end (): void {
    this.#done = true
    if (this.#stream === undefined) sendJson(this.#reply, undefined, 202)
    else this.#stream.end()
  }

  release (retryMs: number): void {
    if (this.#options.session === undefined || this.#done || !this.streams) return
    this.#stream ??= this.#open(retryMs)
    this.#stream.release?.(retryMs)
  }

  #send (text: string, status: number, headers?: Record<string, string>): void {
    if (this.#stream === undefined) return sendJson(this.#reply, text, status, headers)
    this.#stream.respond(text, status)
    this.#stream.end()
  }

  // A client that gets no response would wait for it: Fastify's error handler logs the error and replies with 500.
  #fail (error: unknown): void {
    if (this.#stream === undefined) void this.#reply.send(error)
    else this.#stream.end()
  }

  /** True where the client reads named events of another node, which gets them from the store. */
  get #isReadElsewhere (): boolean {
    const { session } = this.#options
    return session?.named === true && !session.home.isHere
  }

  /** Where notifications go; undefined until there is a stream. */
  get #emitsTo (): Channel | undefined {
    const { session } = this.#options
    return session?.named === true ? session.standalone : this.#stream
  }

  #open (retryMs?: number): Channel {
    const { session, interruptedResponse } = this.#options
    if (session === undefined) return sinkChannel(this.#eventStreams.open(this.#reply))
    const stream = session.openReply(interruptedResponse?.() ?? '')
    const sink = this.#eventStreams.open(this.#reply, undefined, () => stream.detach(sink))
    stream.attach(sink, 0, retryMs)
    return stream
  }
}
