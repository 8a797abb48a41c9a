import { respondOn, type Channel } from '../wire/channel.js'
import type { Conversation } from '../peer/conversation.js'
import { Timed } from './deadlines.js'
import type { Dispatcher } from './dispatcher.js'
import { FAILED, OK, type CallOutcome } from './outcome.js'
import type { McpError } from '../wire/errors.js'
import { bringsForwarded } from '../http/forwarded.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../wire/identity.js'
import { isObject } from '../wire/json.js'
import { encodeError, encodeNotification, isId, type Id, type Params, type Request } from '../wire/jsonrpc.js'
import { atLeast, loggable, type LogLevel } from '../wire/log-level.js'
import type { Peer } from '../peer/peer.js'
import { createAbortController } from '../../lib/on-abort.js'
import type { ElicitAnswer, ClientRequest, Root, SampleAnswer } from '../questions/client-request.js'
import { ClientRequests, ignoreRejection } from '../questions/client-requests.js'
import type { SharedTail } from '../wire/result.js'
import { convert } from '../revisions/convert.js'
import { META, metaOf } from '../revisions/meta.js'
import type { Revision } from '../revisions/revision.js'
import type { Values } from '../store.js'

/** One request being answered: the only thing a handler may touch. */
export class Call extends Timed {
  readonly id: Id
  readonly method: string
  readonly params: Params
  /** About how many bytes it holds until it is answered. */
  readonly size: number
  readonly peer: Peer
  readonly channel: Channel
  readonly revision: Revision
  /** Who sent this request, and what they were granted. */
  readonly identity: Identity
  /** What was agreed with the client when it sent this request; for a handshake, by this request. */
  conversation: Readonly<Conversation>
  /** True when its caller was not granted what it takes. */
  denied = false
  /** By which the operator finds in the log what a client tells of, when something broke. */
  correlation: string | undefined
  readonly #mcp: Dispatcher
  readonly #meta: Params
  #questions: ClientRequests | undefined
  #controller: AbortController | undefined
  /** Takes back what the client is still being asked when the call is over. */
  #asked: AbortController | undefined
  #lastProgress = -Infinity
  #begun = false
  #open = true
  #aborted: Error | undefined
  #finish: (() => void) | undefined
  #finished: Promise<void> | undefined

  constructor (mcp: Dispatcher, request: Request, peer: Peer, channel: Channel, revision: Revision, identity: Identity = peer.identity) {
    super()
    this.#mcp = mcp
    this.id = request.id
    this.method = request.method
    this.params = request.params
    this.size = request.size
    this.peer = peer
    this.channel = channel
    this.revision = revision
    this.identity = identity
    this.conversation = peer.conversation
    this.#meta = metaOf(request.params)
    if (revision.stateless && ('requestState' in this.params || 'inputResponses' in this.params)) this.#questions = this.#clientRequests
  }

  /** Who is asking; undefined when nobody had to say. */
  get principal (): string | undefined {
    return this.identity.principal
  }

  /** True for the program that launched this process and for clients inside it that act for no caller; false for requests over the network, be it from this machine. */
  get local (): boolean {
    return this.peer.transport === 'stdio' || (this.peer.transport === 'memory' && this.identity === ANONYMOUS_ALL_SCOPES)
  }

  /** True when a proxy brought the request here, as its headers or those of its connection say. */
  get forwarded (): boolean {
    return bringsForwarded(this.channel)
  }

  /** Values that outlive the call, by space and key. */
  get store (): Values {
    if (this.#mcp.store === undefined) throw new Error('this gateway has no store')
    return this.#mcp.store
  }

  /** Aborts on cancellation, timeout and shutdown. Pass it to everything that waits. */
  get signal (): AbortSignal {
    this.#controller ??= createAbortController(this.#aborted)
    return this.#controller.signal
  }

  /** What the client said it can do: at the handshake, or in this very request. */
  get capabilities (): Record<string, unknown> {
    if (!this.revision.stateless) return this.conversation.capabilities
    const declared = this.#meta[META.capabilities]
    return isObject(declared) ? declared : {}
  }

  /** How the client names itself. Not verified. */
  get client (): unknown {
    return this.revision.stateless ? this.#meta[META.clientInfo] : this.conversation.client
  }

  /** The level from which the client wants to hear of this call; undefined for silence. */
  get logLevel (): LogLevel | undefined {
    return this.revision.stateless ? this.#meta[META.logLevel] as LogLevel | undefined : this.conversation.logLevel
  }

  /** True once the call is answered or given up. */
  get isClosed (): boolean {
    return !this.#open
  }

  /** Settles when the call is answered or given up. */
  get finished (): Promise<void> {
    return (this.#finished ??= this.#open ? new Promise(resolve => { this.#finish = resolve }) : Promise.resolve())
  }

  /** Tells how far the work is. Free when the client did not ask; a value that does not grow is left out. */
  progress (done: number, total?: number, message?: string): void {
    this.deadline?.extend()
    const { progressToken } = this.#meta
    if (!isId(progressToken) || !Number.isFinite(done) || done <= this.#lastProgress) return
    this.#lastProgress = done
    const params = { progressToken, progress: done, ...(Number.isFinite(total) ? { total } : {}) }
    this.notify('notifications/progress', convert.progress(params, message, this.revision.features))
  }

  /** Says something to the client, if it listens at that level, and to the server's own log. */
  log (level: LogLevel, data: unknown, logger?: string): void {
    this.#mcp.log(level, data, this)
    if (this.logLevel === undefined || !atLeast(level, this.logLevel)) return
    this.notify('notifications/message', { level, ...(logger === undefined ? {} : { logger }), data: loggable(data) })
  }

  /** A notification that belongs to this call; nothing is sent after the answer. */
  notify (method: string, params: object): void {
    if (this.#open && this.channel.streams) this.channel.emit(encodeNotification(method, params), method)
  }

  /** True when the client can answer such a question, for example `call.can('elicitation/create')`. */
  can (method: string, params: Record<string, unknown> = {}): boolean {
    return this.#clientRequests.can({ method, params })
  }

  /**
   * Puts questions to the client and waits for all answers, by key. In a revision without requests to clients the handler
   * ends here and is run again with the answers: what may happen only once before a question goes into `once`.
   */
  ask<K extends string> (questions: Record<K, ClientRequest>): Promise<Record<K, unknown>> {
    this.deadline?.hold()
    this.#asked ??= new AbortController()
    return ignoreRejection(this.#clientRequests.ask(questions, this.#asked.signal).finally(() => this.deadline?.release()) as Promise<Record<K, unknown>>)
  }

  /** Asks the user. With a `url` the answer is given in a browser; otherwise `requestedSchema` describes a form. */
  elicit (key: string, params: { message: string, requestedSchema?: object, url?: string }): Promise<ElicitAnswer> {
    return ignoreRejection(this.ask({ [key]: { method: 'elicitation/create', params } }).then(given => given[key] as ElicitAnswer))
  }

  /** Asks the client's model. */
  sample (key: string, params: { messages: object[], maxTokens: number, [more: string]: unknown }): Promise<SampleAnswer> {
    return ignoreRejection(this.ask({ [key]: { method: 'sampling/createMessage', params } }).then(given => given[key] as SampleAnswer))
  }

  /** The folders the client works in. */
  roots (key = 'roots'): Promise<Root[]> {
    return ignoreRejection(this.ask({ [key]: { method: 'roots/list', params: {} } }).then(given => (given[key] as { roots: Root[] }).roots))
  }

  /** Runs `fn` once for this request, however often the handler is run again; its value must be JSON. */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    return this.#clientRequests.once(key, fn)
  }

  /** Lets an HTTP connection go while the work goes on: the client comes back for the answer. No effect on other wires. */
  release (retryMs = 1000): void {
    if (this.revision.polling && this.#open) this.channel.release?.(retryMs)
  }

  /** Gives up the call: nothing is answered. */
  cancel (reason: Error): void {
    if (!this.#close({ outcome: 'cancelled' })) return
    this.#abort(reason)
    this.channel.end()
  }

  /** Answers with an error now and aborts the work, which may not know that it is over. */
  giveUp (error: McpError): void {
    this.fail(error, 200)
    this.#abort(error)
  }

  /** Called by the dispatcher when the call starts; without a clock the call may last as long as its peer. */
  begin (timed: boolean): void {
    this.peer.addCall(this)
    this.#mcp.byteBudget.add(this.size)
    this.#begun = true
    if (timed) this.startClock(this.#mcp.deadlines)
  }

  /** Answers with a result as JSON text, unless the call is over already; `failed` where it tells of a failure. */
  answer (result: string | SharedTail, failed = false): void {
    if (this.#close(failed ? FAILED : OK)) respondOn(this.channel, this.id, result)
  }

  /** Answers with an error, unless the call is over already. */
  fail (error: McpError, status: number): void {
    // Written first: data that cannot be written must not cost the client its answer.
    const text = encodeError(this.id, error)
    if (this.#close({ outcome: 'error', code: error.code, message: error.message })) this.channel.respond(text, status, error.headers)
  }

  /** True when a handler left questions open that have to travel to the client and back. */
  get needsInput (): boolean {
    return this.#questions?.pending === true
  }

  /** The result that carries these questions. */
  async inputRequired (): Promise<object> {
    return await this.#clientRequests.inputRequired()
  }

  get #clientRequests (): ClientRequests {
    return (this.#questions ??= new ClientRequests(this, method => this.#mcp.clientRequestKind(method), this.#mcp.sealer))
  }

  #abort (reason: Error): void {
    this.#aborted = reason
    this.#controller?.abort(reason)
  }

  #close (outcome: CallOutcome): boolean {
    if (!this.#open) return false
    this.#open = false
    this.stopClock()
    this.#asked?.abort(new Error('the call is over'))
    this.peer.removeCall(this)
    if (this.#begun) this.#mcp.byteBudget.remove(this.size)
    this.#finish?.()
    this.#mcp.ended(this, outcome)
    return true
  }
}
