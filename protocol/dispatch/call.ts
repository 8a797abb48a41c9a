import type { ByteBudget } from '../../lib/byte-budget.js'
import { createAbortController } from '../../lib/on-abort.js'
import { now } from '../../lib/time/clock.js'
import { bringsForwarded } from '../http/forwarded.js'
import type { Conversation } from '../peer/conversation.js'
import type { Peer } from '../peer/peer.js'
import type { ClientRequest, ClientRequestKind } from '../questions/client-request.js'
import { ClientRequests, ignoreRejection } from '../questions/client-requests.js'
import type { Sealer } from '../questions/seal.js'
import { convert } from '../revisions/convert.js'
import type { Revision } from '../revisions/revision.js'
import type { Values } from '../store.js'
import { respondOn, type Channel } from '../wire/channel.js'
import type { ElicitAnswer, Root, SampleAnswer } from '../wire/client-answers.js'
import type { McpError } from '../wire/errors.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../wire/identity.js'
import { isObject } from '../wire/json.js'
import { encodeError, encodeNotification, isId, type Id, type Params, type Request } from '../wire/jsonrpc.js'
import { atLeast, loggable, type LogLevel } from '../wire/log-level.js'
import { META } from '../wire/meta.js'
import type { SharedTail } from '../wire/result.js'
import type { DeadlineEntry, Deadlines } from './deadlines.js'
import { FAILED, OK, type CallOutcome } from './outcome.js'

/** What calls use of the dispatcher that made them. */
export interface CallHost {
  readonly store: Values | undefined
  readonly deadlines: Deadlines
  readonly byteBudget: ByteBudget
  readonly sealer: Sealer
  clientRequestKind (method: string): ClientRequestKind
  log (level: LogLevel, data: unknown, call: Call): void
  /** Called once, when the call is answered or given up. */
  ended (call: Call, outcome: CallOutcome): void
}

/** One request while it is being answered: the only thing a handler may touch. */
export class Call {
  readonly startedAt = now()
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** About how many bytes it holds until it is answered. */
  readonly size: number
  readonly peer: Peer
  readonly channel: Channel
  readonly revision: Revision
  /** The caller, and the scopes it was granted. */
  readonly identity: Identity
  /** What was agreed with the client when it sent this request; for `initialize`, by this request. */
  conversation: Readonly<Conversation>
  /** True when the caller lacks a scope that the call needs. */
  denied = false
  /** Names the log entry about an internal error; the client gets it in the error. */
  correlation: string | undefined
  readonly #host: CallHost
  readonly #meta: Readonly<Params>
  #clientRequests: ClientRequests | undefined
  #controller: AbortController | undefined
  #deadline: DeadlineEntry | undefined
  #lastProgress = -Infinity
  #isCounted = false
  #isOpen = true
  #abortReason: Error | undefined
  #finish: (() => void) | undefined
  #finished: Promise<void> | undefined

  constructor (host: CallHost, request: Request, peer: Peer, channel: Channel, revision: Revision, identity: Identity = peer.identity) {
    this.#host = host
    this.id = request.id
    this.method = request.method
    this.params = request.params
    this.size = request.size
    this.peer = peer
    this.channel = channel
    this.revision = revision
    this.identity = identity
    this.conversation = peer.conversation
    this.#meta = request.meta
    // Checks what a retry brings before the handler runs.
    if (revision.stateless && ('requestState' in this.params || 'inputResponses' in this.params)) this.#clientRequests = this.#asking
  }

  /** The name of the caller; undefined for an anonymous one. */
  get principal (): string | undefined {
    return this.identity.principal
  }

  /** True for the program that launched this process and for clients inside it that act for no caller; false for requests over the network, be it from this machine. */
  get local (): boolean {
    return this.peer.transport === 'stdio' || (this.peer.transport === 'memory' && this.identity === ANONYMOUS_ALL_SCOPES)
  }

  /** True when the request came through a proxy, as its headers or those of its connection say. */
  get forwarded (): boolean {
    return bringsForwarded(this.channel)
  }

  /** Values that outlive the call, by space and key. */
  get store (): Values {
    if (this.#host.store === undefined) throw new Error('this gateway has no store')
    return this.#host.store
  }

  /** Aborts on cancellation, timeout and shutdown. Pass it to everything that waits. */
  get signal (): AbortSignal {
    this.#controller ??= createAbortController(this.#abortReason)
    return this.#controller.signal
  }

  /** The capabilities the client declared, with `initialize` or in this request. */
  get capabilities (): Record<string, unknown> {
    if (!this.revision.stateless) return this.conversation.capabilities
    const declared = this.#meta[META.capabilities]
    return isObject(declared) ? declared : {}
  }

  /** How the client names itself. Not verified. */
  get client (): unknown {
    return this.revision.stateless ? this.#meta[META.clientInfo] : this.conversation.client
  }

  /** The least severe level the client wants log messages of; undefined for none. */
  get logLevel (): LogLevel | undefined {
    return this.revision.stateless ? this.#meta[META.logLevel] as LogLevel | undefined : this.conversation.logLevel
  }

  /** True once the call is answered or given up. */
  get isClosed (): boolean {
    return !this.#isOpen
  }

  /** Settles when the call is answered or given up. */
  get finished (): Promise<void> {
    return (this.#finished ??= this.#isOpen ? new Promise(resolve => { this.#finish = resolve }) : Promise.resolve())
  }

  /** Reports progress and extends the deadline. Sends nothing when the client did not ask for it, or when the value does not grow. */
  progress (done: number, total?: number, message?: string): void {
    this.#deadline?.extend()
    const { progressToken } = this.#meta
    if (!isId(progressToken) || !Number.isFinite(done) || done <= this.#lastProgress) return
    this.#lastProgress = done
    const params = { progressToken, progress: done, ...(Number.isFinite(total) ? { total } : {}) }
    this.notify('notifications/progress', convert.progress(params, message, this.revision.features))
  }

  /** Writes to the server's log, and sends the client a log message if it wants that level. */
  log (level: LogLevel, data: unknown, logger?: string): void {
    this.#host.log(level, data, this)
    if (this.logLevel === undefined || !atLeast(level, this.logLevel)) return
    this.notify('notifications/message', { level, ...(logger === undefined ? {} : { logger }), data: loggable(data) })
  }

  /** Sends a notification that belongs to this call; nothing is sent after the response. */
  notify (method: string, params: object): void {
    if (this.#isOpen && this.channel.streams) this.channel.emit(encodeNotification(method, params), method)
  }

  /** True when the client can answer such a request, for example `call.can('elicitation/create')`. */
  can (method: string, params: Record<string, unknown> = {}): boolean {
    return this.#asking.can({ method, params })
  }

  /**
   * Sends requests to the client and waits for all answers, by key. In a revision without requests to clients the handler
   * ends here and is run again with the answers: what may happen only once before a request goes into `once`.
   */
  ask<K extends string> (requests: Record<K, ClientRequest>): Promise<Record<K, unknown>> {
    this.#deadline?.hold()
    return ignoreRejection(this.#asking.ask(requests).finally(() => this.#deadline?.release()) as Promise<Record<K, unknown>>)
  }

  /** Asks the user. With a `url` the answer is given in a browser; otherwise `requestedSchema` describes a form. */
  elicit (key: string, params: { message: string, requestedSchema?: object, url?: string }): Promise<ElicitAnswer> {
    return this.#askOne(key, 'elicitation/create', params) as Promise<ElicitAnswer>
  }

  /** Asks the client's model. */
  sample (key: string, params: { messages: object[], maxTokens: number, [more: string]: unknown }): Promise<SampleAnswer> {
    return this.#askOne(key, 'sampling/createMessage', params) as Promise<SampleAnswer>
  }

  /** The folders the client works in. */
  roots (key = 'roots'): Promise<Root[]> {
    return ignoreRejection(this.#askOne(key, 'roots/list', {}).then(answer => (answer as { roots: Root[] }).roots))
  }

  /** Runs `fn` once for this request, however often the handler is run again; its value must be JSON. */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    return this.#asking.once(key, fn)
  }

  /** Closes the HTTP connection while the work goes on: the client comes back for the response. No effect on other transports. */
  release (retryMs = 1000): void {
    if (this.revision.polling && this.#isOpen) this.channel.release?.(retryMs)
  }

  /** Gives up the call without a response. */
  cancel (reason: Error): void {
    if (!this.#close({ outcome: 'cancelled' })) return
    this.#abort(reason)
    this.channel.end()
  }

  /** Responds with an error now and aborts the handler. */
  giveUp (error: McpError): void {
    this.fail(error, 200)
    this.#abort(error)
  }

  /** Called by the dispatcher before the handler runs; `timed` is false for calls that may last as long as their peer. */
  start (timed: boolean): void {
    this.peer.addCall(this)
    this.#host.byteBudget.add(this.size)
    this.#isCounted = true
    if (timed) this.#deadline = this.#host.deadlines.add(this)
  }

  /** Responds with a result as JSON text, unless the call is closed; `failed` where the result reports a failure. */
  answer (result: string | SharedTail, failed = false): void {
    if (this.#close(failed ? FAILED : OK)) respondOn(this.channel, this.id, result)
  }

  /** Responds with an error, unless the call is closed. */
  fail (error: McpError, status: number): void {
    // Encoded before the call is closed: when `error.data` cannot be encoded, another error can still be sent.
    const text = encodeError(this.id, error)
    if (this.#close({ outcome: 'error', code: error.code, message: error.message })) this.channel.respond(text, status, error.headers)
  }

  /** True when the handler has requests to the client open that have to travel inside the result. */
  get needsInput (): boolean {
    return this.#clientRequests?.pending === true
  }

  /** The result that carries these requests. */
  async inputRequired (): Promise<object> {
    return await this.#asking.inputRequired()
  }

  get #asking (): ClientRequests {
    return (this.#clientRequests ??= new ClientRequests(this, method => this.#host.clientRequestKind(method), this.#host.sealer))
  }

  #askOne (key: string, method: string, params: Record<string, unknown>): Promise<unknown> {
    return ignoreRejection(this.ask({ [key]: { method, params } }).then(answers => answers[key]))
  }

  #abort (reason: Error): void {
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }

  #close (outcome: CallOutcome): boolean {
    if (!this.#isOpen) return false
    this.#isOpen = false
    this.#deadline?.stop()
    this.#clientRequests?.cancel()
    this.peer.removeCall(this)
    if (this.#isCounted) this.#host.byteBudget.remove(this.size)
    this.#finish?.()
    this.#host.ended(this, outcome)
    return true
  }
}
