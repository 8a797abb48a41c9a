import { randomUUID } from 'node:crypto'
import { admit, revisionOf } from './admission.js'
import { BatchChannel, batchRefusal, inBatch } from './batch.js'
import { Call } from './call.js'
import type { Channel } from './channel.js'
import { errors, isMcpError, type McpError } from './errors.js'
import { encodeError, type Batch, type Id, type Incoming, type Message, type Notification, type Params, type Request } from './jsonrpc.js'
import type { LogLevel } from './log-level.js'
import type { Peer } from './peer.js'
import type { QuestionKind } from './question.js'
import { META } from './revisions/meta.js'
import { isThenable, type Json } from './result.js'
import type { Implementation, Revision, Server } from './revisions/revision.js'
import { lazily, type Check, type Schema, type Typed } from './schema.js'
import { Sealer } from './seal.js'
import { statusOf } from './status.js'
import type { Values } from './store.js'

export type Handler<P = Params> = (params: P, call: Call) => object | Json | Promise<object | Json>
export type Listener<P = Params> = (params: P, peer: Peer) => void
/** Sees a message as it comes, and gives the channel through which it is answered. */
export type Observer = (incoming: Incoming, peer: Peer, channel: Channel) => Channel
export type Middleware = (call: Call, next: () => Promise<object | Json>) => Promise<object | Json>

/** All in milliseconds. */
export interface Limits { callTimeout: number, callTimeoutMax: number, grace: number }

export interface MethodOptions {
  /** False for calls that last as long as their client wants. */
  timed?: boolean
}

interface Method { check: Check, handle: Handler, timed: boolean }

export interface DispatcherOptions {
  info: Implementation
  instructions?: string
  secret?: string
  store?: Values
  limits?: Partial<Limits>
}

/** Hears of what calls log and of what handlers throw unexpectedly. */
export type LogSink = (level: LogLevel, data: unknown, call?: Call) => void

/** Method to handler, for every transport. `receive` is the only door; it never throws and never loses a request. */
export class Dispatcher {
  readonly server: Server
  readonly instructions: string | undefined
  readonly sealer: Sealer
  readonly limits: Limits
  /** What handlers keep beyond their call. */
  readonly store: Values | undefined
  /** Everyone who can be told of changes. */
  readonly peers = new Set<Peer>()
  readonly #methods = new Map<string, Method>()
  readonly #listeners = new Map<string, { check: Check, hear: Listener }>()
  readonly #kinds = new Map<string, QuestionKind>()
  readonly #capabilities = new Map<string, (revision: Revision) => object | undefined>()
  readonly #middleware: Middleware[] = []
  #observe: Observer = (_incoming, _peer, channel) => channel
  #log: LogSink = () => {}
  #draining = false

  constructor ({ info, instructions, secret, store, limits }: DispatcherOptions) {
    this.server = { info, stamp: JSON.stringify({ [META.serverInfo]: info }) }
    this.instructions = instructions
    this.sealer = new Sealer(secret)
    this.store = store
    this.limits = { callTimeout: 60_000, callTimeoutMax: 600_000, grace: 10_000, ...limits }
  }

  /** Serves a request. Params that do not fit the schema are refused before the handler runs. */
  method<S extends Schema> (name: string, schema: S, handle: Handler<Typed<S>>, { timed = true }: MethodOptions = {}): void {
    if (this.#methods.has(name)) throw new Error(`method ${name} is registered already`)
    this.#methods.set(name, { check: lazily(schema), handle: handle as Handler, timed })
  }

  /** Hears a notification. One that does not fit the schema is ignored, as the sender expects no answer. */
  notification<S extends Schema> (name: string, schema: S, hear: Listener<Typed<S>>): void {
    if (this.#listeners.has(name)) throw new Error(`notification ${name} is registered already`)
    this.#listeners.set(name, { check: lazily(schema), hear: hear as Listener })
  }

  /** Wraps every call, the first added outermost. */
  use (middleware: Middleware): void {
    this.#middleware.push(middleware)
  }

  /** Declares a capability; undefined for revisions that do not know it. */
  capability (name: string, describe: (revision: Revision) => object | undefined): void {
    this.#capabilities.set(name, describe)
  }

  capabilities (revision: Revision): Record<string, object> {
    const declared = [...this.#capabilities].map(([name, describe]) => [name, describe(revision)] as const)
    return Object.fromEntries(declared.filter((entry): entry is [string, object] => entry[1] !== undefined))
  }

  question (method: string, kind: QuestionKind): void {
    this.#kinds.set(method, kind)
  }

  questionKind (method: string): QuestionKind {
    const kind = this.#kinds.get(method)
    if (kind === undefined) throw new Error(`no plugin knows how to ask for ${method}`)
    return kind
  }

  /** Unlike middleware, it changes nothing about when a message is answered. */
  onMessage (observe: Observer): void {
    this.#observe = observe
  }

  onLog (sink: LogSink): void {
    this.#log = sink
  }

  /** Never throws: a log that cannot be written must not cost a client its answer. */
  log (level: LogLevel, data: unknown, call?: Call): void {
    try {
      this.#log(level, data, call)
    } catch {}
  }

  /** Makes a peer reachable for announcements and part of an orderly end. */
  connect (peer: Peer): void {
    this.peers.add(peer)
  }

  /** The other end is gone: its calls are aborted and it hears of nothing any more. */
  disconnect (peer: Peer, reason: Error): void {
    this.peers.delete(peer)
    peer.close(reason)
  }

  /** Takes what a transport decoded. Exactly one of the channel's `respond` and `end` follows, now or later. */
  receive (incoming: Incoming, peer: Peer, channel: Channel): void {
    const seen = this.#observe(incoming, peer, channel)
    if (peer.closed) seen.end()
    else if (incoming.kind === 'batch') this.#batch(incoming, peer, seen)
    else this.#one(incoming, peer, seen)
  }

  /** Stops taking calls and waits until every peer's are answered, or the time that is allowed is up. */
  async drain (atMostMs = Infinity): Promise<void> {
    this.#draining = true
    const grace = Math.min(this.limits.grace, atMostMs)
    await Promise.all([...this.peers].map(peer => peer.drain(grace)))
  }

  #one (message: Message, peer: Peer, channel: Channel): void {
    if (message.kind === 'request') return this.#request(message, peer, channel)
    if (message.kind === 'invalid') return this.#refuse(message.id, message.error, peer, channel)
    if (message.kind === 'response') peer.settle(message)
    else this.#hear(message, peer)
    channel.end()
  }

  #batch ({ messages }: Batch, peer: Peer, channel: Channel): void {
    const refusal = batchRefusal(messages, peer.revision)
    if (refusal !== undefined) return this.#refuse(undefined, refusal, peer, channel)
    const replies = new BatchChannel(channel, messages.length)
    for (const [index, message] of messages.entries()) this.#one(inBatch(message), peer, replies.slot(index))
  }

  #hear ({ method, params }: Notification, peer: Peer): void {
    const listener = this.#listeners.get(method)
    if (listener === undefined || listener.check(params) !== undefined) return
    try {
      listener.hear(params, peer)
    } catch (error) {
      this.log('error', { err: error, notification: method })
    }
  }

  #request (request: Request, peer: Peer, channel: Channel): void {
    try {
      const revision = revisionOf(request, peer)
      peer.spoken = revision
      const method = this.#methods.get(request.method)
      if (method === undefined || !revision.has(request.method)) throw errors.methodNotFound(request.method)
      admit(request, peer)
      if (this.#draining) throw errors.closing()
      const call = new Call(this, request, peer, channel, revision)
      call.begin(method.timed)
      this.#answer(call, method)
    } catch (error) {
      this.#refuse(request.id, error as McpError, peer, channel)
    }
  }

  // What is answered without waiting is answered before the next message is read: a handshake comes before what follows it.
  #answer (call: Call, method: Method): void {
    try {
      const result = this.#run(call, method, 0)
      if (isThenable(result)) Promise.resolve(result).then(value => this.#finish(call, value), error => this.#explain(call, error))
      else this.#finish(call, result)
    } catch (error) {
      this.#explain(call, error)
    }
  }

  #run (call: Call, method: Method, depth: number): object | Json | Promise<object | Json> {
    const middleware = this.#middleware[depth]
    if (middleware !== undefined) return middleware(call, async () => await this.#run(call, method, depth + 1))
    const wrong = method.check(call.params)
    if (wrong !== undefined) throw errors.invalidParams(wrong)
    return method.handle(call.params, call)
  }

  #finish (call: Call, result: object | Json): void {
    if (call.asks) return this.#ask(call)
    try {
      call.answer(call.revision.encode(result, this.server))
    } catch (error) {
      this.#explain(call, error)
    }
  }

  #ask (call: Call): void {
    call.inputRequired()
      .then(result => call.answer(call.revision.encode(result, this.server)))
      .catch((error: unknown) => this.#fault(call, error))
  }

  #explain (call: Call, error: unknown): void {
    // What a cancelled handler throws on its way out interests nobody.
    if (call.over) return
    if (call.asks && !isMcpError(error)) return this.#ask(call)
    try {
      if (isMcpError(error)) call.fail(error, statusOf(error, call.revision))
      else this.#fault(call, error)
    } catch (second) {
      this.#fault(call, second)
    }
  }

  // The text of an error we did not write never leaves the process; the client gets an id to ask about.
  #fault (call: Call, error: unknown): void {
    const correlation = randomUUID()
    call.fail(errors.internal(correlation), 200)
    this.log('error', { correlation, err: error }, call)
  }

  #refuse (id: Id | undefined, error: McpError, peer: Peer, channel: Channel): void {
    const revision = peer.spoken ?? peer.revision
    channel.respond(encodeError(id ?? (revision === undefined ? null : revision.missingId), error), statusOf(error, revision))
  }
}
