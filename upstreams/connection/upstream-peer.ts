import type { Cancellation } from '../../lib/abort.js'
import { Peer } from '../../protocol/peer/peer.js'
import { describedRevision } from '../../protocol/revisions/client-side.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import { encodeError, encodeNotification, encodeResult, type Id, type Message, type Params, type Request } from '../../protocol/wire/jsonrpc.js'
import { describeStatus } from '../../transports/client/http/reply-status.js'
import type { Dial, Link } from '../../transports/client/link.js'
import type { RelayedCall } from '../ports.js'
import { CallsInFlight } from './calls-in-flight.js'
import { RequestFailed, SessionLost } from './failure.js'

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

export interface Outgoing {
  readonly method: string
  readonly params: Params
  readonly signal?: AbortSignal | undefined
  readonly cancellation?: Cancellation | undefined
  readonly call?: RelayedCall | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly takesForbidden?: boolean | undefined
  /** Replies of these HTTP statuses are failures, whatever their body says. */
  readonly failsOn?: (status: number) => boolean
}

/** One link and the server at its other end: our requests to it, and what it sends. */
export class UpstreamPeer {
  readonly calls = new CallsInFlight()
  readonly #alias: string
  readonly #events: PeerEvents
  readonly #peer = new Peer()
  readonly #failsOn = new Map<Id, (status: number) => boolean>()
  /** The requests whose results are checked by their senders. */
  readonly #unchecked = new Set<Id>()
  #link: Link | undefined
  #why: Error | undefined
  #pending = 0
  #retired = false

  private constructor (alias: string, events: PeerEvents) {
    this.#alias = alias
    this.#events = events
  }

  /** Rejects with the sentence of the dial. */
  static async open (alias: string, dial: Dial, signal: AbortSignal, events: PeerEvents): Promise<UpstreamPeer> {
    const peer = new UpstreamPeer(alias, events)
    peer.#link = await dial({
      message: (message, on, status) => peer.#receive(message, on, status),
      failed: (id, error, status) => peer.fail(id, new RequestFailed(error.message, status)),
      expired: id => {
        if (id !== undefined) peer.#peer.fail(id, new SessionLost('the session is not known any more'))
        events.expired(peer)
      },
      closed: why => peer.#closed(why)
    }, signal)
    return peer
  }

  get transport (): Link['transport'] {
    return this.#open.transport
  }

  /** Settles when the server has written something, be it no message; undefined where a link is open only when the server is. */
  get alive (): Promise<void> | undefined {
    return this.#open.alive
  }

  get closed (): boolean {
    return this.#peer.closed
  }

  /** Why it closed. */
  get why (): Error | undefined {
    return this.#why
  }

  setRevision (revision: Revision): void {
    this.#open.setRevision(revision)
  }

  /** The result; rejects with the upstream's error, a `RequestFailed`, a `SessionLost`, or an error that says that the upstream is gone. */
  async request (outgoing: Outgoing): Promise<Params> {
    return this.asResult(outgoing.method, await this.send(outgoing, JSON.stringify(outgoing.params), describedRevision(outgoing.params)))
  }

  /**
   * Sends a request without a promise of its own, for every call: `asResult` has to be called with what it settles with. `json` is the whole of the
   * params as JSON text, and `revision` the one in which they are written; undefined before one was agreed on. `onChannel` gets the channel of the
   * request before it is sent.
   */
  send ({ method, params, signal, cancellation, call, headers, takesForbidden, failsOn }: Outgoing, json: string, revision: Revision | undefined, onChannel?: (channel: Channel) => void): Promise<unknown> {
    if (this.closed) return Promise.reject(errors.upstreamUnavailable(this.#alias, 'its connection has ended, and the request was not sent'))
    const version = revision?.stateless === true ? revision.version : undefined
    return this.#peer.request(method, params, id => {
      const channel = this.#open.channelFor({ id, method, params, version, headers, caller: call?.caller })
      if (call !== undefined) this.calls.add(id, call, channel)
      onChannel?.(channel)
      if (failsOn !== undefined) this.#failsOn.set(id, failsOn)
      if (takesForbidden === true) this.#unchecked.add(id)
      this.#pending++
      return channel
    }, { signal, cancellation, json, onSettled: this.#onSettled })
  }

  asResult (method: string, result: unknown): Params {
    if (!isObject(result)) throw errors.upstreamFailed(this.#alias, `it answered ${method} with a result that is not an object`)
    return result
  }

  notify (method: string, params?: Params): void {
    if (!this.closed) this.#open.channel.emit(encodeNotification(method, params), method)
  }

  /** Rejects one request that the upstream will not answer; all that are pending when it cannot be known which. */
  fail (id: Id | undefined, error: Error): void {
    if (id === undefined) this.#peer.failAll(error)
    else this.#settle(this.#peer.fail(id, error))
  }

  /** Closes it when the requests that are pending have been answered. */
  retire (): void {
    this.#retired = true
    if (this.#pending === 0) void this.close()
  }

  async close (): Promise<void> {
    this.#closed(new Error('the connection was closed'))
    await this.#link?.close()
  }

  get #open (): Link {
    if (this.#link === undefined) throw new Error('the link is not open yet')
    return this.#link
  }

  readonly #onSettled = (id: Id, isCancelled: boolean): void => {
    if (isCancelled) this.calls.abandon(id)
    else this.calls.remove(id)
    this.#failsOn.delete(id)
    this.#unchecked.delete(id)
    if (--this.#pending === 0 && this.#retired) void this.close()
  }

  #receive (message: Message, on: Channel | undefined, status: number | undefined): void {
    if (this.closed) return
    if (message.kind === 'request') void this.#answer(message, on)
    else if (message.kind === 'notification') this.#events.notification(message.method, message.params, on, this)
    else if (message.kind === 'invalid') this.#events.odd(`a message that cannot be read: ${message.error.message}`)
    else if (message.forbidden !== undefined && message.id !== undefined && !this.#unchecked.has(message.id)) {
      this.fail(message.id, new RequestFailed(`its response cannot be read: ${message.forbidden}`, status))
    } else if (status !== undefined && message.id !== undefined && this.#failsOn.get(message.id)?.(status) === true) {
      this.#peer.fail(message.id, new RequestFailed(describeStatus(status, {}, true), status))
    } else this.#settle(this.#peer.settle(message) || (message.id !== undefined && this.calls.answeredLate(message.id)))
  }

  #settle (wasPending: boolean): void {
    if (!wasPending) this.#events.odd('a response to a request that is not pending')
  }

  async #answer (request: Request, on: Channel | undefined): Promise<void> {
    const answer = await this.#events.request(request, on, this).then(
      result => result === undefined ? undefined : encodeResult(request.id, JSON.stringify(result)),
      (error: unknown) => encodeError(request.id, isMcpError(error) ? error : errors.cannotAttribute(request.method, 'the gateway could not answer it')))
    if (answer !== undefined && !this.closed) this.#link?.channel.respond(answer, 200)
  }

  #closed (why: Error): void {
    if (this.closed) return
    this.#why = why
    this.#peer.close(errors.upstreamGone(this.#alias, why.message))
    this.#events.closed(why, this)
  }
}
