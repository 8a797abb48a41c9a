import { assertAllowed, resolveRevision } from './preconditions.js'
import { Backlogs } from '../../lib/backlog.js'
import { batchRefusal, splitBatch, refuseClosed } from './batch.js'
import { Responder } from './responder.js'
import { ByteBudget } from '../../lib/byte-budget.js'
import { Call } from './call.js'
import { Capabilities, type Describe } from './capabilities.js'
import type { Channel } from '../wire/channel.js'
import { Deadlines } from './deadlines.js'
import type { DispatcherOptions } from './dispatcher-options.js'
import type { CallOutcome } from './outcome.js'
import { errors, type McpError } from '../wire/errors.js'
import { decode, encodeError, type Batch, type Id, type Incoming, type Message, type Request } from '../wire/jsonrpc.js'
import type { Report } from '../../lib/listeners.js'
import type { LogLevel } from '../wire/log-level.js'
import { mustQueue, type HandshakeQueue } from '../peer/handshake-queue.js'
import type { Identity } from '../wire/identity.js'
import { LIMITS, type Limits } from '../wire/limits.js'
import { Methods } from './methods.js'
import { Notifications, type Listener } from './notifications.js'
import { Observers, type CallListener, type EndListener, type LogSink, type PeerListener } from './observers.js'
import { Passing } from '../../lib/recycled-set.js'
import type { Peer } from '../peer/peer.js'
import type { ClientRequestKind } from '../questions/client-request.js'
import { META } from '../wire/meta.js'
import { isThenable } from '../wire/result.js'
import type { Revision, Server } from '../revisions/revision.js'
import type { Schema, Typed } from '../schema/schema.js'
import { Sealer } from '../questions/seal.js'
import { Pipeline, type AuditSubject, type Gate, type Handler, type Method, type MethodOptions, type Middleware } from './pipeline.js'
import { statusOf } from '../http/http-status.js'
import type { Values } from '../store.js'

/** Method to handler, for every transport. `receive` is the only door; it never throws and never loses a request. */
export class Dispatcher {
  readonly server: Server
  readonly instructions: string | undefined
  readonly sealer: Sealer
  readonly limits: Limits
  readonly backlogs: Backlogs
  readonly byteBudget: ByteBudget
  readonly deadlines: Deadlines
  /** What handlers keep beyond their call. */
  readonly store: Values | undefined
  /** Everyone who can be told of changes. */
  readonly peers = new Passing<Peer>()
  readonly #methods = new Methods()
  readonly #notifications = new Notifications((err, notification) => this.log('error', { err, notification }))
  readonly #kinds = new Map<string, ClientRequestKind>()
  readonly #capabilities = new Capabilities()
  readonly #pipeline: Pipeline
  readonly #responder: Responder
  readonly #observers = new Observers()
  #draining = false

  constructor ({ info, instructions, secret, store, limits, challenge }: DispatcherOptions) {
    this.server = { info, stamp: JSON.stringify({ [META.serverInfo]: info }) }
    this.instructions = instructions
    this.sealer = new Sealer(secret)
    this.store = store
    this.limits = { ...LIMITS, ...limits }
    this.byteBudget = new ByteBudget(this.limits.maxAllBytesInFlight)
    this.backlogs = new Backlogs(this.limits.maxQueued)
    this.deadlines = new Deadlines(this.limits)
    this.#pipeline = new Pipeline(challenge)
    this.#responder = new Responder(this.server, (data, call) => this.log('error', data, call))
  }

  /** Serves a request. Params that do not fit the schema are refused before the handler runs. */
  method<S extends Schema> (name: string, schema: S, handle: Handler<Typed<S>>, options?: MethodOptions): void {
    this.#methods.add(name, schema, handle as Handler, options)
  }

  /** Hears a notification. One that does not fit the schema is ignored, as the sender expects no answer. */
  notification<S extends Schema> (name: string, schema: S, hear: Listener<Typed<S>>): void {
    this.#notifications.on(name, schema, hear)
  }

  /** Runs before every call that its caller may make, and may refuse it. */
  gate (gate: Gate): void {
    this.#pipeline.gate(gate)
  }

  /** Wraps every call that may pass, the first added outermost. */
  use (middleware: Middleware): void {
    this.#pipeline.use(middleware)
  }

  /** Declares a capability; undefined for revisions that do not know it. */
  capability (name: string, describe: Describe): void {
    this.#capabilities.declare(name, describe)
  }

  capabilities (revision: Revision): Record<string, object> {
    return this.#capabilities.of(revision)
  }

  clientRequest (method: string, kind: ClientRequestKind): void {
    this.#kinds.set(method, kind)
  }

  clientRequestKind (method: string): ClientRequestKind {
    const kind = this.#kinds.get(method)
    if (kind === undefined) throw new Error(`no plugin knows how to ask for ${method}`)
    return kind
  }

  /** Hears of each call when it comes, whatever becomes of it; returns how to remove the listener, as all of these do. */
  onBegin (listener: CallListener): () => void {
    return this.#observers.begin.add(listener)
  }

  /** Hears of each call when it is over, and how it went. */
  onEnd (listener: EndListener): () => void {
    return this.#observers.end.add(listener)
  }

  /** Hears of a client that shakes hands again, before what it agreed on is forgotten. */
  onReopen (listener: PeerListener): () => void {
    return this.#observers.reopen.add(listener)
  }

  reopened (peer: Peer): void {
    this.#observers.reopen.notify(peer)
  }

  /** What the call is about, as it is registered; undefined when there is no such thing. */
  auditSubject (call: Call): AuditSubject | undefined {
    return this.#methods.get(call.method)?.target(call.params, call)?.auditSubject
  }

  ended (call: Call, outcome: CallOutcome): void {
    this.#observers.end.notify(call, outcome)
  }

  onLog (sink: LogSink): () => void {
    return this.#observers.log.add(sink)
  }

  /** Never throws: a log that cannot be written must not cost a client its answer. */
  log (level: LogLevel, data: unknown, call?: Call): void {
    this.#observers.log.notify(level, data, call)
  }

  /** What reports a listener that failed to the log; `of` is what it listens to. */
  reporting (of: string): Report {
    return this.#observers.reporting(of)
  }

  /** Makes a peer reachable for announcements and part of an orderly end. */
  connect (peer: Peer): void {
    this.peers.add(peer)
  }

  /** The other end is gone: its calls are aborted and it hears of nothing any more. */
  disconnect (peer: Peer, reason: Error): void {
    this.peers.delete(peer)
    peer.close(reason, this.#observers.ofPeer)
  }

  /** The one parser of all transports. Never throws. */
  decode (input: Uint8Array | string, start?: number, end?: number): Incoming {
    return decode(input, this.limits, start, end)
  }

  /**
   * Takes what a transport decoded. Exactly one of the channel's `respond` and `end` follows, now or later.
   * `identity` is who sent this very message, where that is said for each of them.
   */
  receive (incoming: Incoming, peer: Peer, channel: Channel, identity: Identity = peer.identity): void {
    if (peer.closed) refuseClosed(incoming, channel)
    else if (peer.handshakeQueue !== undefined && mustQueue(incoming, peer.inbound)) this.#hold(peer.handshakeQueue, incoming, peer, channel, identity)
    else if (incoming.kind === 'batch') this.#batch(incoming, peer, channel, identity)
    else this.#one(incoming, peer, channel, identity)
  }

  /** Runs once, when the server begins to end things in order. */
  onDrain (listener: () => void): () => void {
    return this.#observers.drain.add(listener)
  }

  /** Stops taking calls and waits until every peer's are answered, or the time that is allowed is up. */
  async drain (atMostMs = Infinity): Promise<void> {
    this.#draining = true
    this.#observers.drain.notify()
    this.#observers.drain.clear()
    await Promise.all([...this.peers].map(peer => peer.drain(Math.min(this.limits.grace, atMostMs), this.#observers.ofPeer)))
  }

  #one (message: Message, peer: Peer, channel: Channel, identity: Identity): void {
    if (message.kind === 'request') return this.#request(message, peer, channel, identity)
    if (message.kind === 'invalid') return this.#refuse(message.id, message.error, peer, channel)
    if (message.kind === 'response') peer.settle(message)
    else this.#notifications.hear(message, peer)
    channel.end()
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
      this.#begin(new Call(this, request, peer, channel, revision, identity))
    } catch (error) {
      this.#refuse(request.id, this.#observers.mcpError(error), peer, channel)
    }
  }

  #begin (call: Call): void {
    this.#observers.begin.notify(call)
    try {
      const method = this.#methods.get(call.method)
      if (method === undefined || !call.revision.has(call.method)) throw errors.methodNotFound(call.method)
      assertAllowed(call, this.limits, this.byteBudget)
      if (this.#draining) throw errors.draining()
      call.response.start(this.byteBudget, method.timed ? this.deadlines : undefined)
      this.#answer(call, method)
    } catch (error) {
      this.#responder.fail(call, error)
    }
  }

  // What is answered without waiting is answered before the next message is read: a handshake comes before what follows it.
  #answer (call: Call, method: Method): void {
    const result = this.#pipeline.run(call, method)
    if (!isThenable(result)) return this.#responder.finish(call, result)
    if (call.method === 'initialize') call.peer.queueUntil(call.response.finished)
    this.#responder.finishLater(call, result)
  }

  #hold (queue: HandshakeQueue, incoming: Incoming, peer: Peer, channel: Channel, identity: Identity): void {
    if (queue.add(() => this.receive(incoming, peer, channel, identity), incoming, this.limits.maxInFlight)) return
    if (incoming.kind === 'notification') return channel.end()
    this.#refuse(incoming.kind === 'request' ? incoming.id : undefined, errors.invalidRequest('too many messages before initialize is answered; wait for its answer'), peer, channel)
  }

  #refuse (id: Id | undefined, error: McpError, peer: Peer, channel: Channel): void {
    if (error.cause !== undefined) this.log('error', { err: error.cause })
    const revision = peer.lastRevision ?? peer.revision
    channel.respond(encodeError(id ?? (revision === undefined ? null : revision.missingId), error), statusOf(error, revision), error.headers)
  }
}
