import type { FastifyReply } from 'fastify'
import { narrowingOf } from '../../protocol/http/narrowing.js'
import type { Sink } from '../../protocol/sessions/streams/sink.js'
import type { Channel, Headers } from '../../protocol/wire/channel.js'
import { codes } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { EventStreamPort } from '../http/gateway.js'
import { prefers } from '../http/headers.js'
import { sendJson } from '../http/json-reply.js'
import { outcomeOfAccepted, type Answered } from './outcome.js'
import type { RestOutcome } from './problem.js'

/** Makes the HTTP reply of a response; `status` is the one that it has for MCP clients. */
export type ToOutcome = (answer: Answered, status: number) => RestOutcome

const PROGRESS = 'notifications/progress'
const CANCELLED = JSON.stringify({
  error: { code: codes.internal, message: 'The call was cancelled before it was answered; whether it took effect is not known' }
})

/**
 * The reply to one HTTP request of a client that does not speak MCP: JSON, or named events where `Accept` has
 * `text/event-stream`. A request that is refused before anything was sent gets its status then, too.
 */
export class RestReply implements Channel {
  readonly hasStatus = true
  readonly isRateCounted = true
  /** True where the client asked for events. */
  readonly canStream: boolean
  readonly narrowing: Channel['narrowing']
  readonly onlyReads: boolean
  readonly #eventStreams: EventStreamPort
  readonly #reply: FastifyReply
  readonly #toOutcome: ToOutcome
  #sink: Sink | undefined
  readonly #resourcesPath: () => string
  /** The reply that the result becomes, once there is one. */
  #outcome: RestOutcome | undefined
  #done = false

  /** `query` has what narrows the request, besides its headers; `resourcesPath` finds where resources are read. */
  constructor (
    eventStreams: EventStreamPort,
    reply: FastifyReply,
    toOutcome: ToOutcome,
    query: unknown,
    resourcesPath = () => ''
  ) {
    this.#resourcesPath = resourcesPath
    this.#eventStreams = eventStreams
    this.#reply = reply
    this.#toOutcome = toOutcome
    this.onlyReads = reply.request.method !== 'POST'
    this.canStream = prefers(reply.request, 'text/event-stream')
    this.narrowing = narrowingOf(query, reply.request.headers)
  }

  get headers (): Headers {
    return this.#reply.request.headers
  }

  get address (): string {
    return this.#reply.request.ip
  }

  get streams (): boolean {
    return this.canStream && (this.#sink !== undefined || this.#eventStreams.hasCapacity)
  }

  encode (result: object): string {
    this.#outcome = this.#toOutcome({ result: result as Record<string, unknown> }, 200)
    return this.#outcome.body
  }

  encodeAccepted (uri: string): string {
    this.#outcome = outcomeOfAccepted(uri, this.#resourcesPath())
    return this.#outcome.body
  }

  respond (text: string, status: number, headers?: Record<string, string>): void {
    const outcome = this.#outcome ?? this.#toOutcome(JSON.parse(text) as Answered, status)
    const isProblem = outcome.status >= 400
    this.#done = true
    if (this.#sink === undefined && (isProblem || !this.streams)) {
      const all = headers === undefined ? outcome.headers : { ...headers, ...outcome.headers }
      return sendJson(this.#reply, outcome.body, outcome.status, all)
    }
    const sink = this.#open()
    const event = isProblem ? 'problem' : outcome.status === 202 ? 'accepted' : 'result'
    sink.write({ text: outcome.body, method: event })
    sink.end()
  }

  emit (text: string, method: string): void {
    if (this.#done || !this.streams) return
    const { params } = JSON.parse(text) as { params: unknown }
    if (method !== PROGRESS) return this.#open().write({ text: JSON.stringify({ method, params }), method: 'notification' })
    const { progressToken, ...progress } = isObject(params) ? params : {}
    this.#open().write({ text: JSON.stringify(progress), method: 'progress' })
  }

  unwritten (): number {
    return this.#sink?.unwritten?.() ?? 0
  }

  end (): void {
    if (this.#done) return
    this.#outcome = undefined
    this.respond(CANCELLED, 503)
  }

  #open (): Sink {
    return (this.#sink ??= this.#eventStreams.open(this.#reply, name => name))
  }
}
