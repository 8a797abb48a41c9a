import { Backlogs } from '../../lib/backlog.js'
import { ByteBudget } from '../../lib/byte-budget.js'
import { statusOf } from '../http/http-error.js'
import { mustQueue, type HandshakeQueue } from '../peer/handshake-queue.js'
import type { Peer } from '../peer/peer.js'
import { Sealer } from '../questions/seal.js'
import type { Implementation, Server } from '../revisions/revision.js'
import { modern } from '../revisions/table.js'
import type { AnySchema, Schema, Typed } from '../schema/schema.js'
import type { Values } from '../store.js'
import type { CallTask } from '../tasks/task-record.js'
import type { Channel } from '../wire/channel.js'
import { errors, type McpError } from '../wire/errors.js'
import type { Identity } from '../wire/identity.js'
import { decode, encodeError, type Batch, type Id, type Incoming, type Message, type Request } from '../wire/jsonrpc.js'
import { LIMITS, type Limits } from '../wire/limits.js'
import { META } from '../wire/meta.js'
import { isThenable } from '../wire/result.js'
import { batchRefusal, refuseClosed, splitBatch } from './batch.js'
import { Call, type CallHost } from './call.js'
import { callsOf } from './call-facts.js'
import { Capabilities } from './capabilities.js'
import { ClientRequestKinds } from '../questions/client-request.js'
import { Deadlines } from './deadlines.js'
import { Lifecycle } from './lifecycle.js'
import { Methods, type Caller, type Handler, type Method, type MethodOptions } from './methods.js'
import { Notifications, type Listener } from './notifications.js'
import { Observers } from './observers.js'
import { Pipeline, type AwaitTarget, type Gate, type Middleware } from './pipeline.js'
import type { RunAsTask, ScopeChallenge } from './pipeline.js'
import { assertAllowed, resolveRevision } from './preconditions.js'
import { Responder } from './responder.js'

export interface DispatcherOptions {
  info: Implementation
  instructions?: string
  /** Seals cursors and request states; without one they live as long as the process. */
  secret?: string
  /** Where handlers keep values. */
  store?: Values
  limits?: Partial<Limits>
  challenge?: ScopeChallenge
}

/**
 * Finds the handler of a method, for every transport. `receive` takes every message; it never throws and never loses a
 * request.
 */
export class Dispatcher {
  readonly server: Server
  readonly limits: Limits
  readonly observers = new Observers()
  readonly lifecycle: Lifecycle
  /** The capabilities of the server. */
  readonly capabilities = new Capabilities()
  readonly clientRequestKinds = new ClientRequestKinds()
  /** Seals cursors and request states. */
  readonly sealer: Sealer
  /** The bytes that the requests in flight of all peers hold. */
  readonly byteBudget: ByteBudget
  /** The bytes that wait to be written to all clients. */
  readonly backlogs: Backlogs
  readonly #methods = new Methods()
  readonly #notifications = new Notifications((err, notification) => this.observers.reportFault({ err, notification }))
  readonly #deadlines: Deadlines
  readonly #pipeline: Pipeline
  readonly #responder: Responder
  readonly #callHost: CallHost

  constructor ({ info, instructions, secret, store, limits, challenge }: DispatcherOptions) {
    this.server = { info, instructions, stamp: JSON.stringify({ [META.serverInfo]: info }) }
    this.limits = { ...LIMITS, ...limits }
    this.lifecycle = new Lifecycle(this.observers, this.limits.grace)
    this.sealer = new Sealer(secret)
    this.byteBudget = new ByteBudget(this.limits.maxAllBytesInFlight)
    this.backlogs = new Backlogs(this.limits.maxQueued)
    this.#deadlines = new Deadlines(this.limits, error => this.observers.reportFault({ err: error }))
    this.#pipeline = new Pipeline(challenge)
    this.#responder = new Responder(this.server, this.observers)
    this.#callHost = {
      store,
      sealer: this.sealer,
      clientRequestKinds: this.clientRequestKinds,
      observers: this.observers,
      targetOf: call => this.#methods.get(call.method)?.target(call.params, call)
    }
  }

  /** Serves a method, whose params have to fit the schema. Returns a function that removes it. */
  method<S extends AnySchema, T = unknown> (
    name: string,
    schema: S,
    handle: Handler<Typed<S>, T>,
    options?: MethodOptions<T>
  ): () => void {
    return this.#methods.add(name, schema, handle as Handler, options)
  }

  /** Listens to a notification; one that does not fit the schema is ignored. Returns a function that stops it. */
  notification<S extends Schema> (name: string, schema: S, listener: Listener<Typed<S>>): () => void {
    return this.#notifications.on(name, schema, listener)
  }

  /** True for a method that clients can call, in one revision at least. */
  serves (method: string): boolean {
    return this.#methods.get(method) !== undefined
  }

  /** True for a method whose calls last as long as their client wants. */
  lasts (method: string): boolean {
    return this.#methods.get(method)?.timed === false
  }

  /** Sets what decides about calls by their arguments, before the gates, and what asks a person after them. */
  judgeWith (...rules: Parameters<Pipeline['judgeWith']>): void {
    this.#pipeline.judgeWith(...rules)
  }

  /** Runs before every call whose caller has its scopes, and may refuse it. */
  gate (gate: Gate): void {
    this.#pipeline.addGate(gate)
  }

  /** Wraps the handler of every call that passed the gates, the first added outermost. */
  use (middleware: Middleware): void {
    this.#pipeline.addMiddleware(middleware)
  }

  /** Runs for every call whose target is not there; what it returns is waited for, and the target looked up again. */
  awaitTargetsWith (awaitTarget: AwaitTarget): void {
    this.#pipeline.awaitTargetsWith(awaitTarget)
  }

  /** Runs for every call that has passed the gates, and may create a task for it. */
  runTasksWith (runAsTask: RunAsTask): void {
    this.#pipeline.runTasksWith(runAsTask)
  }

  /** Runs a request whose caller has passed the gates as the work of a task. Scopes and rules decide about it again. */
  runTask (request: Request, peer: Peer, channel: Channel, task: Omit<CallTask, 'runs'>): Call {
    const call = new Call(this.#callHost, request, peer, channel, modern, peer.identity)
    call.task = { ...task, runs: true }
    this.#start(call, this.#methods.get(call.method))
    return call
  }

  /** The one parser of all transports. Never throws. */
  decode (input: Uint8Array | string): Incoming {
    return decode(input, this.limits)
  }

  /** Takes what a transport decoded, of that caller. Exactly one of the channel's `respond` and `end` follows. */
  receive (incoming: Incoming, peer: Peer, channel: Channel, identity: Identity = peer.identity): void {
    if (peer.closed) refuseClosed(incoming, channel)
    else if (peer.handshakeQueue !== undefined && mustQueue(incoming, peer.inbound)) {
      this.#queue(peer.handshakeQueue, incoming, peer, channel, identity)
    } else if (incoming.kind === 'batch') this.#batch(incoming, peer, channel, identity)
    else this.#one(incoming, peer, channel, identity)
  }

  /** The calls in flight, oldest first: timed ones, which need no peer that stays, and those of peers. */
  callsInFlight (): Call[] {
    return callsOf(this.#deadlines.calls, [...this.lifecycle.peers].flatMap(peer => peer.inbound.all()))
  }

  #one (message: Message, peer: Peer, channel: Channel, identity: Identity): void {
    if (message.kind === 'request') return this.#request(message, peer, channel, identity)
    if (message.kind === 'invalid') return this.#refuse(message.id, message.error, peer, channel)
    if (message.kind === 'notification') this.#notifications.dispatch(message, peer)
    const passed = message.kind === 'response' && !peer.settle(message) ? peer.forward?.(message) : undefined
    if (passed === undefined) channel.end()
    else passed.then(() => channel.end(), (error: McpError) => this.#refuse(undefined, error, peer, channel))
  }

  #batch ({ messages }: Batch, peer: Peer, channel: Channel, identity: Identity): void {
    const refusal = batchRefusal(messages, peer.revision)
    if (refusal !== undefined) this.#refuse(undefined, refusal, peer, channel)
    else for (const [message, reply] of splitBatch(messages, channel)) this.#one(message, peer, reply, identity)
  }

  #request (request: Request, peer: Peer, channel: Channel, identity: Identity): void {
    try {
      const revision = resolveRevision(request, peer, this.limits)
      peer.lastRevision = revision
      const method = this.#methods.get(request.method)
      const meant = peer.view === undefined ? request : meantBy(request, method, { peer, channel, identity })
      this.#start(new Call(this.#callHost, meant, peer, channel, revision, identity), method)
    } catch (error) {
      this.observers.respondWith(error, sent => this.#refuse(request.id, sent, peer, channel))
    }
  }

  #start (call: Call, method: Method | undefined): void {
    this.observers.begin.notify(call)
    try {
      call.readAnswers()
      if (method === undefined || !call.revision.has(call.method)) throw errors.methodNotFound(call.method)
      // Before anything else is refused: another refusal would say that the method is there.
      if (method.hidden) this.#pipeline.checkScopes(call, method)
      assertAllowed(call, this.limits, this.byteBudget)
      if (this.lifecycle.isDraining) throw errors.draining()
      call.response.start(this.byteBudget, method.timed && call.task === undefined ? this.#deadlines : undefined)
      this.#run(call, method)
    } catch (error) {
      this.#responder.fail(call, error)
    }
  }

  // A result that is not a promise is sent before the next message is read, so `initialize` is answered before what
  // follows it.
  #run (call: Call, method: Method): void {
    const result =
      call.trace === undefined
        ? this.#pipeline.run(call, method)
        : call.trace.run(() => this.#pipeline.run(call, method))
    if (!isThenable(result)) return this.#responder.finish(call, result)
    if (call.method === 'initialize') call.peer.queueUntil(call.response.finished)
    this.#responder.finishLater(call, result)
  }

  #queue (queue: HandshakeQueue, incoming: Incoming, peer: Peer, channel: Channel, identity: Identity): void {
    if (queue.add(() => this.receive(incoming, peer, channel, identity), incoming, this.limits.maxInFlight)) return
    if (incoming.kind === 'notification') return channel.end()
    this.#refuse(
      incoming.kind === 'request' ? incoming.id : undefined,
      errors.invalidRequest('too many messages before initialize is answered; wait for its answer'),
      peer,
      channel
    )
  }

  #refuse (id: Id | undefined, error: McpError, peer: Peer, channel: Channel): void {
    if (error.cause !== undefined) this.observers.reportFault({ err: error.cause })
    const revision = peer.lastRevision ?? peer.revision
    const status = statusOf(error, revision)
    this.observers.reportRefusal(error, channel.hasStatus === true ? status : undefined)
    channel.respond(
      encodeError(id ?? (revision === undefined ? null : revision.missingId), error),
      status,
      error.headers
    )
  }
}

/** The request that is meant by one in a view, where a tool stands for others. */
function meantBy (request: Request, method: Method | undefined, caller: Caller): Request {
  const meant = method?.meant?.(request.params, caller) ?? request.params
  return meant === request.params ? request : { ...request, params: meant }
}
