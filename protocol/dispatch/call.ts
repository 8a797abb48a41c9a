import { cameThroughProxy } from '../http/proxied.js'
import type { Conversation } from '../peer/conversation.js'
import type { Peer } from '../peer/peer.js'
import type { ClientRequest, ClientRequestKinds } from '../questions/client-request.js'
import { elicit, ignoreRejection, listRoots, sample } from '../questions/answers.js'
import type { Elicited, FormQuestion, SampleQuestion, UrlQuestion } from '../questions/answers.js'
import { ClientRequests } from '../questions/client-requests.js'
import type { QuestionObserver } from '../questions/deferred-questions.js'
import { namingCall } from '../questions/named-call.js'
import type { Sealer } from '../questions/seal.js'
import { convert } from '../revisions/convert.js'
import type { Revision } from '../revisions/revision.js'
import type { Values } from '../store.js'
import type { CallTask } from '../tasks/task-record.js'
import type { Channel } from '../wire/channel.js'
import type { ElicitResult, Root, SampleAnswer } from '../wire/client-answers.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../wire/identity.js'
import { isObject } from '../wire/json.js'
import { encodeNotification, encodeNotificationWith, isId, type Id, type Params, type Request } from '../wire/jsonrpc.js'
import { atLeast, loggable, type LogLevel } from '../wire/log-level.js'
import { META } from '../wire/meta.js'
import type { CallTrace } from '../wire/trace.js'
import { CallResponse, type CallOutcome } from './call-response.js'
import type { Ruling, Target } from './target.js'

/** The parts of the dispatcher that calls use. */
export interface CallHost {
  readonly store: Values | undefined
  readonly sealer: Sealer
  readonly clientRequestKinds: ClientRequestKinds
  readonly observers: {
    readonly log: { notify (level: LogLevel, data: unknown, call: Call): void }
    readonly end: { notify (call: Call, outcome: CallOutcome): void }
    readonly progress: { notify (call: Call, done: number, total: number | undefined): void }
    readonly question: QuestionObserver
  }
  targetOf (call: Call): Target | undefined
}

/** One request while it is being answered: the only thing a handler may touch. */
export class Call {
  readonly method: string
  readonly params: Params
  /** The `_meta` of the request. */
  readonly meta: Readonly<Params>
  readonly response: CallResponse
  readonly peer: Peer
  channel: Channel
  readonly revision: Revision
  /** The caller, and the scopes it was granted. */
  readonly identity: Identity
  /** The agreement with the client when it sent this request; for `initialize`, by this request. */
  conversation: Readonly<Conversation>
  /** True when the caller lacks a scope that the call needs. */
  denied = false
  /** The name of the rule that decided about it, and the thing that it is about where that is hidden by the rule. */
  ruled: Ruling | undefined
  /** Names the log entry about an internal error; the client gets it in the error. */
  correlation: string | undefined
  /** The span of the call; undefined where calls are not traced. */
  trace: CallTrace | undefined
  /** The task that the call runs or has created. */
  task: CallTask | undefined
  readonly #host: CallHost
  #clientRequests: ClientRequests | undefined
  #target: Target | undefined | 'not looked up' = 'not looked up'
  #lastProgress = -Infinity

  constructor (host: CallHost, request: Request, peer: Peer, channel: Channel, revision: Revision, by = peer.identity) {
    this.#host = host
    this.method = request.method
    this.params = request.params
    this.meta = request.meta
    this.response = new CallResponse(this, request, peer, channel)
    this.peer = peer
    this.channel = channel
    this.revision = revision
    this.identity = by
    this.conversation = peer.conversation
  }

  /** Reads the state and the answers that a retry brings. Throws when they are not good. */
  readAnswers (): void {
    if (this.revision.stateless && ('requestState' in this.params || 'inputResponses' in this.params)) {
      this.#clientRequests = this.clientRequests
    }
  }

  get id (): Id {
    return this.response.id
  }

  /** The name of the caller; undefined for an anonymous one. */
  get principal (): string | undefined {
    return this.identity.principal
  }

  /** True for the program that launched this process, and for clients inside it that act for no caller. */
  get local (): boolean {
    const { transport } = this.peer
    return transport === 'stdio' || (transport === 'memory' && this.identity === ANONYMOUS_ALL_SCOPES)
  }

  /** True when the request came through a proxy, as its headers or those of its connection say. */
  get forwarded (): boolean {
    return cameThroughProxy(this.channel)
  }

  /** The target of the request, as it was registered when this was first asked for; undefined when there is none. */
  get target (): Target | undefined {
    if (this.#target === 'not looked up') this.lookUpTarget()
    return this.#target as Target | undefined
  }

  /** Looks the target up again, which may be there by now. */
  lookUpTarget (): void {
    this.#target = this.#host.targetOf(this)
  }

  /** Values that outlive the call, by space and key. */
  get store (): Values {
    if (this.#host.store === undefined) throw new Error('this gateway has no store')
    return this.#host.store
  }

  /** Aborts on cancellation, timeout and shutdown. Pass it to everything that waits. */
  get signal (): AbortSignal {
    return this.response.signal
  }

  /** The capabilities the client declared, with `initialize` or in this request. */
  get capabilities (): Record<string, unknown> {
    if (!this.revision.stateless) return this.conversation.capabilities
    const declared = this.meta[META.capabilities]
    return isObject(declared) ? declared : {}
  }

  /** How the client names itself. Not verified. */
  get client (): unknown {
    return this.revision.stateless ? this.meta[META.clientInfo] : this.conversation.client
  }

  /** The least severe level the client wants log messages of; undefined for none. */
  get logLevel (): LogLevel | undefined {
    return this.revision.stateless ? this.meta[META.logLevel] as LogLevel | undefined : this.conversation.logLevel
  }

  /** True when the client wants to hear of progress. */
  get wantsProgress (): boolean {
    return isId(this.meta.progressToken)
  }

  /** Extends the deadline, and tells a client that asked for it of the progress, if that has grown. */
  progress (done: number, total?: number, message?: string): void {
    this.response.deadline?.extend()
    this.#host.observers.progress.notify(this, done, total)
    const { progressToken } = this.meta
    if (!isId(progressToken) || !Number.isFinite(done) || done <= this.#lastProgress) return
    this.#lastProgress = done
    const params = { progressToken, progress: done, ...(Number.isFinite(total) ? { total } : {}) }
    this.notify('notifications/progress', convert.progress(params, message, this.revision.features))
  }

  /** Writes to the server's log, and sends the client a log message if it wants that level. */
  log (level: LogLevel, data: unknown, logger?: string): void {
    this.#host.observers.log.notify(level, data, this)
    if (this.logLevel === undefined || !atLeast(level, this.logLevel)) return
    const params = { level, ...(logger === undefined ? {} : { logger }), data: loggable(data) }
    this.notify('notifications/message', namingCall(params, this))
  }

  /** Sends a notification that belongs to this call; nothing is sent after the response. */
  notify (method: string, params: object): void {
    if (!this.response.isClosed && this.channel.streams) this.channel.emit(encodeNotification(method, params), method)
  }

  /** Sends a notification that is not stored for resumption, with the params as JSON text. */
  notifyTransient (method: string, json: string): void {
    if (this.response.isClosed || !this.channel.streams) return
    const text = encodeNotificationWith(method, json)
    if (this.channel.emitTransient === undefined) this.channel.emit(text, method)
    else this.channel.emitTransient(text, method)
  }

  /** True when the client can answer such a request, for example `call.can('elicitation/create')`. */
  can (method: string, params: Record<string, unknown> = {}): boolean {
    return this.clientRequests.can({ method, params })
  }

  /** Sends requests to the client; gives all answers, by key. May end the handler and run it again: see `once`. */
  ask<K extends string> (requests: Record<K, ClientRequest>): Promise<Record<K, unknown>> {
    this.response.deadline?.hold()
    const answered = this.clientRequests.ask(requests).finally(() => this.response.deadline?.release())
    return ignoreRejection(answered as Promise<Record<K, unknown>>)
  }

  /** Asks the user. With a `url` the answer is given in a browser; otherwise `requestedSchema` describes a form. */
  elicit (key: string, params: UrlQuestion): Promise<ElicitResult<undefined>>
  elicit<S extends object = object> (key: string, params: FormQuestion<S>): Promise<ElicitResult<Elicited<S>>>
  elicit (key: string, params: UrlQuestion | FormQuestion): Promise<ElicitResult<unknown>> {
    return elicit(this, key, params)
  }

  /** Asks the client's model. */
  sample (key: string, params: SampleQuestion): Promise<SampleAnswer> {
    return sample(this, key, params)
  }

  /** The folders the client works in. */
  roots (key = 'roots'): Promise<Root[]> {
    return listRoots(this, key)
  }

  /** Runs `fn` once for this request, however often the handler is run again; its value must be JSON. */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    return this.clientRequests.once(key, fn)
  }

  /** Closes the HTTP connection, if it is one, while the work goes on: the client comes back for the response. */
  release (retryMs = 1000): void {
    if (this.revision.polling && !this.response.isClosed) this.channel.release?.(retryMs)
  }

  /** The method of a question that the client was sent and has not answered yet. */
  get awaitedQuestion (): string | undefined {
    return this.#clientRequests?.awaited
  }

  /** True when the handler has requests to the client open that have to travel inside the result. */
  get needsInput (): boolean {
    return this.#clientRequests?.pending === true
  }

  /** The result that carries these requests. */
  async inputRequired (): Promise<object> {
    return await this.clientRequests.inputRequired()
  }

  /** Questions of the call to its client. Handlers have `ask`; requests of upstream servers are forwarded by it. */
  get clientRequests (): ClientRequests {
    const { clientRequestKinds, sealer, observers } = this.#host
    return (this.#clientRequests ??= new ClientRequests(this, clientRequestKinds, sealer, observers.question))
  }

  /** Called by the response, once. */
  closed (outcome: CallOutcome): void {
    this.#clientRequests?.cancel()
    this.#host.observers.end.notify(this, outcome)
  }
}
