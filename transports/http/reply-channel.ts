import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Channel, Headers } from '../../protocol/wire/channel.js'
import type { SharedTail } from '../../protocol/wire/result.js'
import type { Session } from '../../protocol/sessions/session.js'
import { overSink, sendJson, sendShared } from './channels.js'

export interface ReplyOptions {
  /** Makes the reply resumable. */
  session?: Session
  /** What the client is told when this process dies before it has answered. */
  interruptedResponse?: () => string
  /** Runs while headers can still be set; what it promises is awaited. */
  beforeAnswer?: () => Promise<void> | undefined
}

const NOTHING: ReplyOptions = {}

/** One HTTP reply: JSON when the answer is the first thing sent, an event stream as soon as anything precedes it. */
export class ReplyChannel implements Channel {
  readonly canStream = true
  readonly hasStatus = true
  readonly counted = true
  readonly #app: FastifyInstance
  readonly #reply: FastifyReply
  readonly #options: ReplyOptions
  #stream: Channel | undefined
  #done = false

  constructor (app: FastifyInstance, reply: FastifyReply, options: ReplyOptions = NOTHING) {
    this.#app = app
    this.#reply = reply
    this.#options = options
  }

  get headers (): Headers {
    return this.#reply.request.headers
  }

  /** A reply that has not become a stream yet may find that there are too many: then it is the answer and nothing else. */
  get streams (): boolean {
    return this.#stream !== undefined || this.#options.session?.named === true || this.#app.mcp.eventStreams.hasRoom
  }

  respond (text: string, status: number, headers?: Record<string, string>): void {
    this.#done = true
    const kept = this.#options.beforeAnswer?.()
    if (kept === undefined) this.#answer(text, status, headers)
    else void kept.then(() => this.#answer(text, status, headers))
  }

  respondShared (start: string, ending: SharedTail): void {
    if (this.#stream !== undefined) return this.respond(start + ending.text, 200)
    this.#done = true
    const kept = this.#options.beforeAnswer?.()
    if (kept === undefined) sendShared(this.#reply, start, ending)
    else void kept.then(() => sendShared(this.#reply, start, ending))
  }

  emit (text: string, method: string): void {
    if (this.#options.session?.named === true) this.#options.session.standalone.emit(text, method)
    else if (!this.#done && this.streams) (this.#stream ??= this.#open()).emit(text, method)
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

  #answer (text: string, status: number, headers?: Record<string, string>): void {
    if (this.#stream === undefined) return sendJson(this.#reply, text, status, headers)
    this.#stream.respond(text, status)
    this.#stream.end()
  }

  #open (retryMs?: number): Channel {
    if (this.#options.session === undefined) return overSink(this.#app.mcp.eventStreams.open(this.#reply))
    const stream = this.#options.session.openReply(this.#options.interruptedResponse?.() ?? '')
    const sink = this.#app.mcp.eventStreams.open(this.#reply, undefined, () => stream.detach(sink))
    stream.attach(sink, 0, retryMs)
    return stream
  }
}
