import type { Channel, Headers } from '../wire/channel.js'
import { NO_CONVERSATION, REINITIALIZED, type Conversation } from './conversation.js'
import { errors, type McpError } from '../wire/errors.js'
import { HandshakeQueue } from './handshake-queue.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../wire/identity.js'
import type { PeerOptions, Transport } from './peer-options.js'
import { InFlight, type InFlightCall } from './in-flight.js'
import { encodeNotification, type Id, type Notification, type Response } from '../wire/jsonrpc.js'
import { callEach, type Report } from '../../lib/listeners.js'
import { now } from '../../lib/time.js'
import type { LogLevel } from '../wire/log-level.js'
import { OutgoingRequests, type ChannelOf, type RequestOptions } from './outgoing-requests.js'
import type { Implementation, Revision } from '../revisions/revision.js'
import { SubscribedUris } from './subscribed-uris.js'

/** Shared by all peers without subscriptions or calls, to save memory: every stateless request has a peer. */
const NONE = {
  subscriptions: new Set() as ReadonlySet<string>,
  calls: new InFlight() as Pick<InFlight, 'size' | 'bytes' | 'has' | 'get' | 'all'>
}

/** The other end of a connection, session or single request: what was agreed, and the requests in flight both ways. */
export class Peer {
  readonly transport: Transport
  channel: Channel | undefined
  /** The negotiated revision; undefined until `initialize` is answered. */
  revision: Revision | undefined
  /** The revision of the latest request, which decides how unreadable messages are answered. */
  lastRevision: Revision | undefined
  readonly headers: Headers | undefined
  readonly identity: Identity
  /** The view that the client sees; undefined for the whole gateway. */
  readonly view: string | undefined
  /** The HTTP connection that a request of its own came on. */
  readonly connection: object | undefined
  /** True once `initialize` was answered. */
  initialized = false
  /** Messages that came while an earlier `initialize` is being answered; undefined when none is. */
  handshakeQueue: HandshakeQueue | undefined
  /** True when the agreement has changed since its session was last stored; subscriptions have their own mark. */
  dirty = false
  closed = false
  /** When it connected, in milliseconds since 1970; undefined for a request that stands for itself. */
  connectedAt: number | undefined
  /**
   * Passes on what the client sent about a request that is not here; undefined where no other node can have it. Gives a
   * promise for an answer, which rejects when that cannot be passed on.
   */
  forward: ((message: Response | Notification) => Promise<void> | undefined) | undefined
  readonly #requestIdPrefix: string | undefined
  #conversation: Conversation = NO_CONVERSATION
  #subscribed: SubscribedUris | undefined
  #inbound: InFlight | undefined
  #outgoing: OutgoingRequests | undefined
  #drainListeners: Set<() => void> | undefined
  #closeListeners: Set<() => void> | undefined
  #draining = false

  constructor (options: PeerOptions = {}) {
    this.transport = options.transport ?? 'http'
    this.channel = options.channel
    this.revision = options.revision
    this.headers = options.headers
    this.identity = options.identity ?? ANONYMOUS_ALL_SCOPES
    this.view = options.view
    this.connection = options.connection
    this.#requestIdPrefix = options.requestIdPrefix
  }

  get principal (): string | undefined {
    return this.identity.principal
  }

  /** The agreement of the latest `initialize`. */
  get conversation (): Readonly<Conversation> {
    return this.#conversation
  }

  get client (): Implementation | undefined {
    return this.#conversation.client
  }

  set client (client: Implementation | undefined) {
    this.#own.client = client
  }

  get capabilities (): Record<string, unknown> {
    return this.#conversation.capabilities
  }

  set capabilities (capabilities: Record<string, unknown>) {
    this.#own.capabilities = capabilities
  }

  get logLevel (): LogLevel {
    return this.#conversation.logLevel
  }

  set logLevel (level: LogLevel) {
    this.#own.logLevel = level
  }

  /** The URIs the client is subscribed to. */
  get subscriptions (): ReadonlySet<string> {
    return this.#subscribed?.uris ?? NONE.subscriptions
  }

  /** Calls of the client that are not answered yet. */
  get inbound (): typeof NONE.calls {
    return this.#inbound ?? NONE.calls
  }

  /** Calls in flight keep the earlier conversation, and their questions fail: the new client must not answer them. */
  open (revision: Revision, client: Implementation | undefined, capabilities: Record<string, unknown>): void {
    if (this.initialized) this.#own.replaced = true
    this.#outgoing?.rejectAll(method => errors.cannotAsk(method, REINITIALIZED))
    this.#conversation = {
      client,
      capabilities,
      logLevel: this.initialized ? NO_CONVERSATION.logLevel : this.logLevel,
      replaced: false,
      openedAt: now()
    }
    this.revision = revision
    this.initialized = true
    this.dirty = true
  }

  /** Queues what the client sends from now on until its `initialize` is answered, however long that takes. */
  queueUntil (answered: Promise<void>): void {
    const queue = this.handshakeQueue = new HandshakeQueue()
    const flush = (): void => {
      this.handshakeQueue = undefined
      queue.flush()
    }
    answered.then(flush, flush)
  }

  setSubscribed (uri: string, wanted: boolean): void {
    (this.#subscribed ??= new SubscribedUris()).set(uri, wanted)
  }

  get subscriptionTextLength (): number {
    return this.#subscribed?.textLength ?? 0
  }

  /** True when the session has to be stored again. */
  get hasUnsavedChanges (): boolean {
    return this.dirty || this.#subscribed?.hasChanges === true
  }

  takeChanges (): Map<string, boolean> {
    return this.#subscribed?.takeChanges() ?? new Map<string, boolean>()
  }

  restoreChanges (changes: Map<string, boolean>): void {
    this.#subscribed?.restoreChanges(changes)
  }

  addCall (call: InFlightCall): void {
    (this.#inbound ??= new InFlight()).add(call)
  }

  /** Does nothing for a call that was refused because its id is in use. */
  removeCall (call: InFlightCall): void {
    this.#inbound?.remove(call)
  }

  notify (method: string, params?: object): void {
    this.channel?.emit(encodeNotification(method, params), method)
  }

  /** Settles with the answer; rejects when the signal aborts or the peer closes. The channel may depend on the id. */
  request (
    method: string,
    params: object | undefined,
    channel: Channel | ChannelOf,
    options: RequestOptions = {}
  ): Promise<unknown> {
    if (this.closed || this.#draining) return Promise.reject(errors.closing())
    this.#outgoing ??= new OutgoingRequests(this.#requestIdPrefix)
    return this.#outgoing.send(method, params, channel, options)
  }

  /** Takes the answer to one of our requests; false if that request is not pending. */
  settle (response: Response): boolean {
    return this.#outgoing?.settle(response) === true
  }

  /** Rejects one of our requests that the other end will not answer; false if it is not pending. */
  fail (id: Id, error: Error): boolean {
    return this.#outgoing?.fail(id, error) === true
  }

  /** Rejects all of our requests that the other end has not answered yet. */
  failAll (error: Error): void {
    this.#outgoing?.rejectAll(() => error)
  }

  /** Runs `listener` at shutdown, before calls in flight are waited for; returns a function that removes it. */
  onDrain (listener: () => void): () => void {
    if (this.#draining) listener()
    this.#drainListeners ??= new Set()
    return addTo(this.#drainListeners, listener)
  }

  /** Runs `listener` when the peer closes; returns a function that removes it. */
  onClose (listener: () => void): () => void {
    this.#closeListeners ??= new Set()
    return addTo(this.#closeListeners, listener)
  }

  /** Ends long-lived calls, rejects our requests, and waits for calls in flight, which fail after the grace period. */
  async drain (graceMs: number, report: Report = () => {}): Promise<void> {
    this.#draining = true
    callEach(this.#drainListeners ?? [], report)
    this.#outgoing?.rejectAll(() => errors.closing())
    const timer = setTimeout(() => this.giveUp(errors.closing()), graceMs)
    while (this.inbound.size > 0) await Promise.all(this.inbound.all().map(call => call.finished))
    clearTimeout(timer)
  }

  /** Answers every call in flight with an error. */
  giveUp (error: McpError): void {
    for (const call of this.inbound.all()) call.giveUp(error)
  }

  /** The other end is gone: nothing is written any more and its calls are aborted. */
  close (reason: Error, report: Report = () => {}): void {
    if (this.closed) return
    this.closed = true
    for (const call of this.inbound.all()) call.cancel(reason)
    this.#outgoing?.rejectAll(() => reason)
    callEach(this.#closeListeners ?? [], report)
    this.channel = undefined
  }

  /** A conversation of this peer alone, which may be changed. */
  get #own (): Conversation {
    if (this.#conversation === NO_CONVERSATION) this.#conversation = { ...NO_CONVERSATION }
    return this.#conversation
  }
}

function addTo (listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
