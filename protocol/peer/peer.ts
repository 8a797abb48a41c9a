import type { Channel, Headers } from '../wire/channel.js'
import { NO_CONVERSATION, REINITIALIZED, type Conversation } from './conversation.js'
import { errors, type McpError } from '../wire/errors.js'
import { HandshakeQueue } from './handshake-queue.js'
import { ANONYMOUS_ALL_SCOPES, type Identity } from '../wire/identity.js'
import { InFlight, type InFlightCall } from './in-flight.js'
import { encodeNotification, type Response } from '../wire/jsonrpc.js'
import { callEach, type Report } from '../../lib/listeners.js'
import type { LogLevel } from '../wire/log-level.js'
import { OutgoingRequests, type RequestOptions } from './outgoing-requests.js'
import type { Implementation, Revision } from '../revisions/revision.js'
import { SubscribedUris } from './subscribed-uris.js'

/** How a peer reaches us. */
export type Transport = 'stdio' | 'memory' | 'http' | 'sse' | 'websocket'

export interface PeerOptions {
  transport?: Transport
  /** Where messages outside any call go; absent while the client has no stream open. */
  channel?: Channel
  /** The revision where no `initialize` is needed: a stateful one unless a request describes itself, or a stateless one, for requests that all have to. */
  revision?: Revision
  /** Headers that must agree with the message; absent where there are none. */
  headers?: Headers
  /** Who is there; anybody when absent. */
  identity?: Identity
  /** Put before the ids of our own requests, where an earlier process may have used the plain ones. */
  requestIdPrefix?: string
}

/** A peer is made for every stateless request, and thousands idle: what it has none of is one and the same for all. */
const NONE = { subscriptions: new Set() as ReadonlySet<string>, calls: new InFlight() as Pick<InFlight, 'size' | 'bytes' | 'has' | 'get' | 'all'> }

/** The other end of a connection, session or single request: what was agreed with it and what is under way in both directions. */
export class Peer {
  readonly transport: Transport
  channel: Channel | undefined
  /** The negotiated revision; undefined until the handshake. */
  revision: Revision | undefined
  /** The revision of the latest request, which decides how unreadable messages are answered. */
  lastRevision: Revision | undefined
  readonly headers: Headers | undefined
  readonly identity: Identity
  /** True once `initialize` was answered. */
  initialized = false
  /** What came while an earlier `initialize` is being answered; undefined when none is. */
  handshakeQueue: HandshakeQueue | undefined
  /** True when what is agreed with the peer has changed since its session was last kept, its subscriptions aside. */
  dirty = false
  closed = false
  readonly #requestIdPrefix: string | undefined
  #conversation: Conversation = NO_CONVERSATION
  #subscribed: SubscribedUris | undefined
  #inbound: InFlight | undefined
  #outgoing: OutgoingRequests | undefined
  #endings: Set<() => void> | undefined
  #closings: Set<() => void> | undefined
  #draining = false

  constructor ({ transport = 'http', channel, revision, headers, identity = ANONYMOUS_ALL_SCOPES, requestIdPrefix }: PeerOptions = {}) {
    this.transport = transport
    this.channel = channel
    this.revision = revision
    this.headers = headers
    this.identity = identity
    this.#requestIdPrefix = requestIdPrefix
  }

  get principal (): string | undefined {
    return this.identity.principal
  }

  /** What the latest handshake agreed on. */
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

  /** URIs the client wants to hear of. */
  get subscriptions (): ReadonlySet<string> {
    return this.#subscribed?.uris ?? NONE.subscriptions
  }

  /** Calls of the client that are not answered yet. */
  get inbound (): typeof NONE.calls {
    return this.#inbound ?? NONE.calls
  }

  /** A handshake: what was agreed before is over, except for calls that are still being answered. What they asked the client is not for the next one to answer. */
  open (revision: Revision, client: Implementation | undefined, capabilities: Record<string, unknown>): void {
    if (this.initialized) this.#own.replaced = true
    this.#outgoing?.rejectAll(method => errors.cannotAsk(method, REINITIALIZED))
    this.#conversation = { client, capabilities, logLevel: this.initialized ? NO_CONVERSATION.logLevel : this.logLevel, replaced: false }
    this.revision = revision
    this.initialized = true
    this.dirty = true
  }

  /** Queues what the client sends from now on until its `initialize` is answered, however long a gate or middleware takes. */
  queueUntil (answered: Promise<void>): void {
    const queue = this.handshakeQueue = new HandshakeQueue()
    void answered.then(() => {
      this.handshakeQueue = undefined
      queue.flush()
    })
  }

  setSubscribed (uri: string, wanted: boolean): void {
    (this.#subscribed ??= new SubscribedUris()).set(uri, wanted)
  }

  get subscriptionTextLength (): number {
    return this.#subscribed?.textLength ?? 0
  }

  /** True when there is something to keep. */
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

  /** A second request of the same id was refused, and the first goes on. */
  removeCall (call: InFlightCall): void {
    this.#inbound?.remove(call)
  }

  notify (method: string, params?: object): void {
    this.channel?.emit(encodeNotification(method, params), method)
  }

  /** Sends the other end a request; settles with its answer, or rejects when the signal aborts or the peer closes. */
  request (method: string, params: object | undefined, channel: Channel, options: RequestOptions = {}): Promise<unknown> {
    if (this.closed || this.#draining) return Promise.reject(errors.closing())
    this.#outgoing ??= new OutgoingRequests(this.#requestIdPrefix)
    return this.#outgoing.send(method, params, channel, options)
  }

  /** Takes the answer to one of our requests. */
  settle (response: Response): void {
    this.#outgoing?.settle(response)
  }

  /** Runs when the server wants to end things in order; returns how to take it back. */
  onDrain (ending: () => void): () => void {
    if (this.#draining) ending()
    const endings = this.#endings ??= new Set()
    endings.add(ending)
    return () => endings.delete(ending)
  }

  onClose (closing: () => void): () => void {
    const closings = this.#closings ??= new Set()
    closings.add(closing)
    return () => closings.delete(closing)
  }

  /** Ends long-lived calls with their answer, gives up questions, and waits until what is in flight is answered or the time is up. */
  async drain (graceMs: number, report: Report = () => {}): Promise<void> {
    this.#draining = true
    callEach(this.#endings ?? [], report)
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
    callEach(this.#closings ?? [], report)
    this.channel = undefined
  }

  /** One that can be written to: what all peers share is copied first. */
  get #own (): Conversation {
    if (this.#conversation === NO_CONVERSATION) this.#conversation = { ...NO_CONVERSATION }
    return this.#conversation
  }
}
