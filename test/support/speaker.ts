import { EventEmitter, once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import { decode } from '../../protocol/wire/jsonrpc.js'
import type { Identity } from '../../protocol/wire/identity.js'
import { Peer } from '../../protocol/peer/peer.js'
import { within } from './wait.js'
import { modern, revision, type Json } from './recorder.js'

export interface Answer { result: Json, error: { code: number, message: string, data: Json } }

export interface Speaks {
  version?: string
  principal?: string
  /** The whole identity, in place of `principal`. */
  identity?: Identity
  view?: string
  capabilities?: Json
  /** Its answers by method; it keeps silent where there is none. */
  answers?: Record<string, (params: Json) => unknown>
}

/** Every revision, and those that can put a question to the user. */
export const ERAS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const
export const ASKING = ERAS.slice(2)

const DEADLINE = 60_000

/** A client of any revision and caller that answers questions in the way of its revision. */
export class Speaker {
  readonly notifications: Array<{ method: string, params: Json }> = []
  readonly asked: Array<{ method: string, params: Json }> = []
  readonly peer: Peer
  readonly #app: FastifyInstance
  readonly #capabilities: Json
  readonly #answers: NonNullable<Speaks['answers']>
  readonly #stateless: boolean
  readonly #replies = new Map<unknown, Answer>()
  readonly #arrivals = new EventEmitter().setMaxListeners(0)
  #lastId = 0
  #askedId: unknown

  constructor (app: FastifyInstance, speaks: Speaks = {}) {
    const { version = '2025-11-25', principal, view, capabilities = {}, answers = {} } = speaks
    const identity = speaks.identity ?? (principal === undefined ? undefined : { principal, scopes: 'all' as const })
    const spoken = revision(version)
    this.#app = app
    this.#capabilities = capabilities
    this.#answers = answers
    this.#stateless = spoken.stateless
    const receive = (text: string) => this.#onMessage(JSON.parse(text) as Json)
    this.peer = new Peer({
      transport: 'http',
      channel: { streams: true, respond: receive, emit: receive, end: () => {} },
      ...(spoken.stateless ? {} : { revision: spoken }),
      ...(identity !== undefined && { identity }),
      view
    })
    if (!spoken.stateless) this.peer.capabilities = capabilities
    app.mcp.dispatcher.lifecycle.connect(this.peer)
  }

  /** The answer to a request, after all questions on the way to it. */
  async request (method: string, params: Json = {}): Promise<Answer> {
    const answer = await this.answerTo(this.send(method, params))
    const { inputRequests, requestState } = answer.result ?? {}
    if (inputRequests === undefined) return answer
    const questions = Object.entries(inputRequests as Record<string, { method: string, params: Json }>)
    const inputResponses = Object.fromEntries(
      await Promise.all(
        questions.map(async ([key, question]) => [key, await this.#answer(question.method, question.params)])
      )
    )
    return await this.request(method, { ...params, inputResponses, requestState })
  }

  async tool (name: string, args: Json = {}): Promise<Answer> {
    return await this.request('tools/call', { name, arguments: args })
  }

  /** Sends a request and gives its id. */
  send (method: string, params: Json = {}): number {
    this.#receive({
      id: ++this.#lastId,
      method,
      params: this.#paramsOf(params)
    })
    return this.#lastId
  }

  notify (method: string, params: Json = {}): void {
    this.#receive({ method, params: this.#paramsOf(params) })
  }

  async answerTo (id: number): Promise<Answer> {
    await this.until(() => this.#replies.has(id))
    return this.#replies.get(id) as Answer
  }

  /** Subscribes to a resource in the way of its revision. */
  async subscribe (uri: string): Promise<void> {
    if (!this.#stateless) await this.request('resources/subscribe', { uri })
    else await this.listen({ resourceSubscriptions: [uri] })
  }

  async listen (notifications: Json): Promise<number> {
    const id = this.send('subscriptions/listen', { notifications })
    await this.next('notifications/subscriptions/acknowledged')
    return id
  }

  /** The params of the next notification of that method, including one that came before. */
  async next (method: string, ms?: number): Promise<Json> {
    await this.until(() => this.notifications.some(one => one.method === method), ms)
    return this.notifications.splice(this.notifications.findIndex(one => one.method === method), 1)[0]?.params as Json
  }

  async until (reached: () => boolean, ms = DEADLINE): Promise<void> {
    await within(ms, async signal => { while (!reached()) await once(this.#arrivals, 'message', { signal }) })
  }

  /** Answers the latest request of the server with an error. */
  refuse (error: { code: number, message: string }): void {
    this.#receive({ id: this.#askedId, error })
  }

  close (): void {
    this.#app.mcp.dispatcher.lifecycle.disconnect(this.peer, new Error('the client was closed'))
  }

  #paramsOf (params: Json): Json {
    if (!this.#stateless) return params
    return { ...params, _meta: { ...params._meta as Json | undefined, ...modern(this.#capabilities)._meta } }
  }

  #receive (message: Json): void {
    const { channel } = this.peer
    if (channel !== undefined) {
      this.#app.mcp.dispatcher.receive(decode(JSON.stringify({ jsonrpc: '2.0', ...message })), this.peer, channel)
    }
  }

  #onMessage (message: Json): void {
    const { id, method, params = {} } = message as { id?: unknown, method?: string, params?: Json }
    if (method === undefined) this.#replies.set(id, message as unknown as Answer)
    else if (id === undefined) this.notifications.push({ method, params })
    // Later, as over any wire.
    else setImmediate(() => { void this.#reply(id, method, params) })
    this.#arrivals.emit('message')
  }

  async #reply (id: unknown, method: string, params: Json): Promise<void> {
    this.#askedId = id
    const result = await this.#answer(method, params)
    if (result !== undefined) this.#receive({ id, result })
  }

  async #answer (method: string, params: Json): Promise<unknown> {
    this.asked.push({ method, params })
    this.#arrivals.emit('message')
    return await this.#answers[method]?.(params)
  }
}

export const textOf = ({ result }: Answer): string =>
  (result?.content as Array<{ text: string }> | undefined)?.map(({ text }) => text).join('\n') as string

export const dataOf = <T = Json>({ result }: Answer): T => result?.structuredContent as T
