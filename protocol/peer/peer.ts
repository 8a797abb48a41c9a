import type { Call } from '../dispatch/call.js'
import type { Channel, Headers } from '../wire/channel.js'
import { NO_CONVERSATION, REOPENED, type Conversation } from './conversation.js'
import { errors, type McpError } from '../wire/errors.js'
import type { Held } from './handshake-queue.js'
import { ANYBODY, type Identity } from '../wire/identity.js'
import { InFlight } from './in-flight.js'
import { encodeNotification, encodeRequest, type Id, type Response } from '../wire/jsonrpc.js'
import { tellEach, type Report } from '../../lib/listeners.js'
import type { LogLevel } from '../wire/log-level.js'
import { onAbort } from '../../lib/on-abort.js'
import type { Implementation, Revision } from '../revisions/revision.js'
import { SubscribedUris } from './subscribed-uris.js'

/** How a peer reaches us. */
export type Transport = 'stdio' | 'memory' | 'http' | 'sse' | 'websocket'

export interface PeerOptions {
  transport?: Transport
  /** Where messages outside any call go; absent while the client has no stream open. */
  channel?: Channel
  /** Set where no handshake is needed: the revision that is spoken unless a request says otherwise. */
  revision?: Revision
  /** The version the transport says its messages are of. */
  claim?: string | undefined
  /** Headers that must agree with the message; absent where there are none. */
  headers?: Headers
  /** Who is there; anybody when absent. */
  identity?: Identity
  /** Put before the ids of our own requests, where an earlier process may have used the plain ones. */
  askedAs?: string
}

/** A peer is made for every stateless request, and thousands idle: what it has none of is one and the same for all. */
const NONE = { subscriptions: new Set() as ReadonlySet<string>, calls: new InFlight() as Pick<InFlight, 'size' | 'bytes' | 'has' | 'get' | 'all'> }

interface Question { method: string, resolve: (result: unknown) => void, reject: (error: Error) => void }

/** The other end of a connection, session or single request: what was agreed with it and what is under way in both directions. */
export class Peer {
  readonly transport: Transport
  channel: Channel | undefined
  /** The negotiated revision; undefined until the handshake. */
  revision: Revision | undefined
  /** The revision of the latest request, which decides how unreadable messages are answered. */
  spoken: Revision | undefined
  readonly claim: string | undefined
  readonly headers: Headers | undefined
  readonly identity: Identity
  /** True once `initialize` was answered. */
  greeted = false
  /** What came while an `initialize` before it waits; undefined when none does. */
  held: Held | undefined
  /** True when what is agreed with the peer has changed since its session was last kept, its subscriptions aside. */
  changed = false
  closed = false
  readonly #askedAs: string | undefined
  #conversation: Conversation = NO_CONVERSATION
  #subscribed: SubscribedUris | undefined
  #inbound: InFlight | undefined
  #outbound: Map<Id, Question> | undefined
  #endings: Set<() => void> | undefined
  #closings: Set<() => void> | undefined
  #lastId = 0
  #draining = false

  constructor ({ transport = 'http', channel, revision, claim, headers, identity = ANYBODY, askedAs }: PeerOptions = {}) {
    this.transport = transport
    this.channel = channel
    this.revision = revision
    this.claim = claim
    this.headers = headers
    this.identity = identity
    this.#askedAs = askedAs
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
    if (this.greeted) this.#own.over = true
    this.#reject(({ method }) => errors.cannotAsk(method, REOPENED))
    this.#conversation = { client, capabilities, logLevel: this.greeted ? NO_CONVERSATION.logLevel : this.logLevel, over: false }
    this.revision = revision
    this.greeted = true
    this.changed = true
  }

  subscribed (uri: string, wanted: boolean): void {
    (this.#subscribed ??= new SubscribedUris()).set(uri, wanted)
  }

  get subscriptionText (): number {
    return this.#subscribed?.text ?? 0
  }

  /** True when there is something to keep. */
  get unkept (): boolean {
    return this.changed || this.#subscribed?.changed === true
  }

  takeChanges (): Map<string, boolean> {
    return this.#subscribed?.takeChanges() ?? new Map<string, boolean>()
  }

  returnChanges (changes: Map<string, boolean>): void {
    this.#subscribed?.returnChanges(changes)
  }

  begun (call: Call): void {
    (this.#inbound ??= new InFlight()).add(call)
  }

  /** A second request of the same id was refused, and the first goes on. */
  over (call: Call): void {
    this.#inbound?.remove(call)
  }

  notify (method: string, params?: object): void {
    this.channel?.emit(encodeNotification(method, params), method)
  }

  /** Sends the client a request; settles with its answer, or rejects when the signal aborts or the peer goes. */
  ask (method: string, params: object | undefined, channel: Channel, signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) return Promise.reject(abandoned(signal))
    if (this.closed || this.#draining) return Promise.reject(errors.closing())
    const number = ++this.#lastId
    const id = this.#askedAs === undefined ? number : `${this.#askedAs}${number}`
    return new Promise((resolve, reject) => {
      const abandon = () => {
        this.#outbound?.delete(id)
        channel.emit(encodeNotification('notifications/cancelled', { requestId: id }), 'notifications/cancelled')
        reject(abandoned(signal))
      }
      const off = onAbort(signal, abandon)
      const settled = (settle: () => void) => { off(); settle() }
      this.#outbound ??= new Map()
      this.#outbound.set(id, {
        method,
        resolve: result => settled(() => resolve(result)),
        reject: error => settled(() => reject(error))
      })
      channel.emit(encodeRequest(id, method, params), method)
    })
  }

  /** Takes an answer to one of our questions. One that nobody waits for is ignored: the two messages crossed on the wire. */
  settle ({ id, result, error }: Response): void {
    const question = id === undefined ? undefined : this.#outbound?.get(id)
    if (id === undefined || question === undefined) return
    this.#outbound?.delete(id)
    if (error === undefined) question.resolve(result)
    else question.reject(errors.clientFailed(question.method, error))
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
    tellEach(this.#endings ?? [], report)
    this.#reject(() => errors.closing())
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
    this.#reject(() => reason)
    tellEach(this.#closings ?? [], report)
    this.channel = undefined
  }

  /** One that can be written to: what all peers share is copied first. */
  get #own (): Conversation {
    if (this.#conversation === NO_CONVERSATION) this.#conversation = { ...NO_CONVERSATION }
    return this.#conversation
  }

  #reject (reason: (question: Question) => Error): void {
    const questions = this.#outbound
    this.#outbound = undefined
    for (const question of questions?.values() ?? []) question.reject(reason(question))
  }
}

const abandoned = ({ reason }: AbortSignal) => new Error('the question was abandoned', { cause: reason })
