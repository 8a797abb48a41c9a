import { OutgoingRequests, refuseCancelled, type OutgoingRequest } from '../../protocol/peer/outgoing-requests.js'
import { revisionDescribedBy } from '../../protocol/revisions/client-side.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Id, Message, Params, Request, Response } from '../../protocol/wire/jsonrpc.js'
import { encodeError, encodeNotification, encodeRequestWith, encodeResult, isId } from '../../protocol/wire/jsonrpc.js'
import { describeStatus } from '../../transports/client/http/reply-status.js'
import type { Dial, Link } from '../../transports/client/link.js'
import { CallsInFlight, type CallOptions } from './calls-in-flight.js'
import { refusalIn, RequestFailed, SessionLost } from './failure.js'

/** Listeners to everything that comes from an upstream unasked. */
export interface PeerEvents {
  /** Answers a request of the upstream, or not if that is undefined; rejects with an `McpError`. */
  request (request: Request, on: Channel | undefined, peer: UpstreamPeer): Promise<object | undefined>
  notification (method: string, params: Params, on: Channel | undefined, peer: UpstreamPeer): void
  /** Something came that a correct server does not send. */
  odd (what: string): void
  expired (peer: UpstreamPeer): void
  closed (why: Error, peer: UpstreamPeer): void
}

export interface Outgoing extends CallOptions {
  readonly method: string
  readonly params: Params
  /** The caller on whose behalf it is sent, where it belongs to no call. */
  readonly caller?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** True when progress goes to `call`; the token of the request is its id. */
  readonly wantsProgress?: boolean | undefined
  /** True when its sender checks the result itself. */
  readonly allowsUnsafeKeys?: boolean | undefined
  /** Replies of these HTTP statuses are failures, whatever their body says. */
  readonly failsOn?: (status: number) => boolean
}

const NO_ANSWER = 'the gateway could not answer it'

/** One link and the server at its other end: our requests to it, and what it sends. */
export class UpstreamPeer {
  readonly #alias: string
  readonly #events: PeerEvents
  readonly #requests = new OutgoingRequests<Outgoing>(
    undefined,
    (request, isCancelled) => this.#settled(request, isCancelled)
  )

  readonly calls = new CallsInFlight(this.#requests)
  #link: Link | undefined
  #why: Error | undefined
  #onIdle: (() => void) | undefined
  #isDraining = false

  private constructor (alias: string, events: PeerEvents) {
    this.#alias = alias
    this.#events = events
  }

  /** Rejects with the sentence of the dial. */
  static async open (alias: string, dial: Dial, signal: AbortSignal, events: PeerEvents): Promise<UpstreamPeer> {
    const peer = new UpstreamPeer(alias, events)
    peer.#link = await dial({
      message: (message, on, status) => peer.#receive(message, on, status),
      failed: (id, error, status) => peer.fail(id, new RequestFailed(error.message, status, refusalIn(error))),
      expired: id => {
        if (id !== undefined) peer.#requests.fail(id, new SessionLost('the session is not known any more'))
        events.expired(peer)
      },
      closed: why => peer.#closed(why)
    }, signal)
    return peer
  }

  get transport (): Link['transport'] {
    return this.#open.transport
  }

  /**
   * Settles when the server has written something, be it no message; undefined where a link is open only when the
   * server is.
   */
  get alive (): Promise<void> | undefined {
    return this.#open.alive
  }

  get closed (): boolean {
    return this.#why !== undefined
  }

  /** Why it closed. */
  get why (): Error | undefined {
    return this.#why
  }

  setRevision (revision: Revision): void {
    this.#open.setRevision(revision)
  }

  nextId (): Id {
    return this.#requests.nextId()
  }

  /**
   * The result; rejects with the upstream's error, a `RequestFailed`, a `SessionLost`, or an error that says that the
   * upstream is gone.
   */
  async request (outgoing: Outgoing): Promise<Params> {
    const { method, params } = outgoing
    const result = await this.send(this.nextId(), outgoing, JSON.stringify(params), revisionDescribedBy(params))
    return this.asResult(method, result)
  }

  /**
   * Sends a request without a promise of its own, for every call: `asResult` has to be called with what it settles
   * with. `json` is the whole of the params as JSON text, and `revision` the one in which they are written; undefined
   * before one was agreed on.
   */
  send (id: Id, outgoing: Outgoing, json: string, revision: Revision | undefined): Promise<unknown> {
    if (this.closed) {
      const why = 'its connection has ended, and the request was not sent'
      return Promise.reject(errors.upstreamUnavailable(this.#alias, why))
    }
    const refusal = refuseCancelled(outgoing)
    if (refusal !== undefined) return refusal
    const { method, params, headers, call, caller = call?.caller } = outgoing
    const version = revision?.stateless === true ? revision.version : undefined
    const channel = this.#open.channelFor({ id, method, params, version, headers, caller })
    return this.#requests.write(id, method, encodeRequestWith(id, method, json), channel, outgoing)
  }

  asResult (method: string, result: unknown): Params {
    if (!isObject(result)) {
      throw errors.upstreamFailed(this.#alias, `it answered ${method} with a result that is not an object`)
    }
    return result
  }

  notify (method: string, params?: Params): void {
    if (!this.closed) this.#open.channel.emit(encodeNotification(method, params), method)
  }

  /**
   * Passes progress on to its call. Returns in words what is wrong with it; `on` is the channel on whose stream it
   * came.
   */
  progress (params: Params, on: Channel | undefined): string | undefined {
    const { progressToken } = params
    const request = isId(progressToken) ? this.#requests.get(progressToken) : undefined
    if (request?.options.wantsProgress !== true || request.options.call === undefined) {
      return 'progress of a request that is not pending'
    }
    if (on !== undefined && on !== request.channel) return 'progress on the stream of another request'
    request.options.call.progress(params)
    return undefined
  }

  /** Rejects one request that the upstream will not answer; all that are pending when it cannot be known which. */
  fail (id: Id | undefined, error: Error): void {
    if (id === undefined) this.#requests.rejectAll(() => error)
    else this.#noteAsked(this.#requests.fail(id, error))
  }

  /** True while a request is to be answered; `subscriptions/listen` is answered when it ends. */
  get isBusy (): boolean {
    return this.calls.size > 0 || this.#requests.all().some(({ method }) => method !== 'subscriptions/listen')
  }

  /** Settles when no call of a client is in flight. */
  async idle (): Promise<void> {
    if (!this.closed && this.calls.size > 0) await new Promise<void>(resolve => { this.#onIdle = resolve })
  }

  /** Closes it when the requests that are pending have been answered. */
  drain (): void {
    this.#isDraining = true
    if (this.#requests.size === 0) void this.close()
  }

  async close (): Promise<void> {
    this.#closed(new Error('the connection was closed'))
    await this.#link?.close()
  }

  get #open (): Link {
    if (this.#link === undefined) throw new Error('the link is not open yet')
    return this.#link
  }

  #settled ({ id, options: { call } }: OutgoingRequest<Outgoing>, isCancelled: boolean): void {
    if (isCancelled && call !== undefined) this.calls.abandon(id, call)
    if (this.#onIdle !== undefined && this.calls.size === 0) this.#onIdle()
    if (this.#isDraining && this.#requests.size === 0) void this.close()
  }

  /** True for the response to a request of ours, also if that was cancelled a moment ago. */
  #receive (message: Message, on: Channel | undefined, status: number | undefined): boolean {
    if (this.closed) return false
    if (message.kind === 'response') return this.#noteAsked(this.#settle(message, status))
    if (message.kind === 'request') void this.#answer(message, on)
    else if (message.kind === 'notification') this.#events.notification(message.method, message.params, on, this)
    else this.#events.odd(`a message that cannot be read: ${message.error.message}`)
    return false
  }

  #settle (response: Response, status: number | undefined): boolean {
    const { id, forbidden } = response
    if (id === undefined || (forbidden === undefined && status === undefined)) {
      return this.#requests.settle(response) || (id !== undefined && this.calls.answeredLate(id))
    }
    const options = this.#requests.get(id)?.options
    if (forbidden !== undefined && options?.allowsUnsafeKeys !== true) {
      return this.#requests.fail(id, new RequestFailed(`its response cannot be read: ${forbidden}`, status))
    }
    if (status !== undefined && options?.failsOn?.(status) === true) {
      return this.#requests.fail(id, new RequestFailed(describeStatus(status, {}, true), status))
    }
    return this.#requests.settle(response) || this.calls.answeredLate(id)
  }

  #noteAsked (wasAsked: boolean): boolean {
    if (!wasAsked) this.#events.odd('a response to a request that is not pending')
    return wasAsked
  }

  async #answer (request: Request, on: Channel | undefined): Promise<void> {
    const { id, method } = request
    const answer = await this.#events.request(request, on, this).then(
      result => result === undefined ? undefined : encodeResult(id, JSON.stringify(result)),
      (error: unknown) => encodeError(id, isMcpError(error) ? error : errors.cannotAttribute(method, NO_ANSWER))
    )
    if (answer !== undefined && !this.closed) this.#link?.channel.respond(answer, 200)
  }

  #closed (why: Error): void {
    if (this.closed) return
    this.#why = why
    const gone = errors.upstreamGone(this.#alias, why.message)
    this.#requests.rejectAll(() => gone)
    this.#events.closed(why, this)
  }
}
