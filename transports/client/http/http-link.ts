import type { IncomingHttpHeaders } from 'node:http'
import { withTimeout } from '../../../lib/time.js'
import { mirrorMessage } from '../../../protocol/http/mirrored-headers.js'
import type { Revision } from '../../../protocol/revisions/revision.js'
import type { Channel } from '../../../protocol/wire/channel.js'
import type { Message } from '../../../protocol/wire/jsonrpc.js'
import { bearerHeader, type Credential } from '../credential.js'
import type { Link, LinkEvents, LinkRequest, UrlLinkOptions } from '../link.js'
import type { HttpClient } from './http-client.js'
import type { HttpExchange, ReplyReceiver } from './http-exchange.js'
import { StandaloneStream } from './standalone-stream.js'
import { UnaskedMessages } from '../unasked-messages.js'
import { statusError } from './reply-status.js'
import { RequestChannel, type RequestHost } from './request-channel.js'

const COMMON = [
  'content-type',
  'application/json',
  'accept',
  'application/json, text/event-stream',
  'accept-encoding',
  'identity'
]
/** How long the answer to a notification may take, in milliseconds. */
const CONTROL_TIMEOUT = 30_000
/** How long requests wait for the answer to `notifications/initialized` and the head of the standalone stream. */
const HANDSHAKE_WAIT = 2_000
/** How long the end of a session may take at close. */
const DELETE_TIMEOUT = 2_000
/** How much of a body is read that does not matter, so that its connection can be used again. */
const MAX_IGNORED = 65_536
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/

/** Streamable HTTP as a client, of revisions with sessions and without. */
export class HttpLink implements Link, RequestHost {
  readonly transport = 'http'
  readonly channel: Channel
  readonly limits: UrlLinkOptions
  readonly unasked: UnaskedMessages
  readonly events: LinkEvents
  isExpired = false
  readonly #client: HttpClient
  readonly #configured: string[]
  readonly #requests = new Set<RequestChannel>()
  #path: string
  #sessionId: string | undefined
  #revision: Revision | undefined
  #standalone: StandaloneStream | undefined
  /** Settles when the handshake is complete; undefined when nothing has to wait for it. */
  #handshake: Promise<void> | undefined
  #isClosed = false

  constructor (client: HttpClient, path: string, configured: string[], limits: UrlLinkOptions, events: LinkEvents) {
    this.#client = client
    this.#path = path
    this.#configured = configured
    this.limits = limits
    this.unasked = new UnaskedMessages(limits.maxUnasked)
    this.events = events
    this.channel = {
      streams: true,
      respond: text => this.send(text, undefined),
      emit: (text, method) => this.send(text, method),
      end: () => {}
    }
  }

  get credential (): Credential | undefined {
    return this.limits.credential
  }

  get hasSession (): boolean {
    return this.#sessionId !== undefined
  }

  get ready (): Promise<void> | undefined {
    return this.#handshake
  }

  channelFor (request: LinkRequest): Channel {
    const channel = new RequestChannel(this, request)
    this.#requests.add(channel)
    return channel
  }

  setRevision (revision: Revision): void {
    this.#revision = revision
  }

  post (request: LinkRequest, text: string, receiver: ReplyReceiver): HttpExchange | undefined {
    return this.#client.call(
      { method: 'POST', path: this.#path, headers: this.#headersOf(request), body: text },
      receiver,
      request.caller
    )
  }

  resume (lastEventId: string | undefined, receiver: ReplyReceiver): HttpExchange {
    return this.#client.stream({ method: 'GET', path: this.#path, headers: this.#streamHeaders(lastEventId) }, receiver)
  }

  send (text: string, method: string | undefined, caller?: string): void {
    // Revisions without sessions have requests only.
    if (this.#isClosed || this.isExpired || this.#revision?.stateless === true) return
    const answered = this.#control('POST', text, CONTROL_TIMEOUT, caller)
    if (method === 'notifications/initialized') this.#beginSession(answered)
  }

  readHead ({ method }: LinkRequest, status: number, headers: IncomingHttpHeaders, path: string): boolean {
    if (path !== this.#path && status < 400) this.#path = path
    if (method === 'initialize' && status < 300) this.#readSession(headers['mcp-session-id'])
    if (status !== 404 || !this.hasSession || method === 'initialize') return true
    this.isExpired = true
    return false
  }

  explain (status: number, headers: IncomingHttpHeaders, token: string | undefined): Error {
    return statusError(status, headers, { headers: this.#configured, credential: this.credential, token })
  }

  release (channel: RequestChannel): void {
    this.#requests.delete(channel)
  }

  async close (): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#standalone?.close()
    this.unasked.stop()
    for (const request of this.#requests) request.drop()
    // It may wait behind answers that the server does not take.
    if (this.hasSession && !this.isExpired) {
      await withTimeout(this.#control('DELETE', undefined, DELETE_TIMEOUT), DELETE_TIMEOUT, () => {})
    }
    await this.#client.close()
    this.events.closed(new Error('the connection was closed'))
  }

  /** The session is gone at the upstream; it need not be ended there. */
  #expire (): void {
    if (this.isExpired) return
    this.isExpired = true
    if (!this.#isClosed) this.events.expired?.(undefined)
  }

  #readSession (id: string | string[] | undefined): void {
    if (typeof id === 'string' && SESSION_ID.test(id)) this.#sessionId = id
  }

  /**
   * Requests wait until the server knows that the handshake is complete, and until the stream for its own requests is
   * open: it drops them otherwise.
   */
  #beginSession (answered: Promise<void>): void {
    const standalone = this.#standalone = new StandaloneStream(this.limits, {
      open: (lastEventId, receiver) => this.resume(lastEventId, receiver),
      unasked: this.unasked,
      message: message => {
        this.#releaseAnswered(message)
        this.events.message(message, undefined)
      },
      expired: () => this.#expire(),
      credential: this.credential,
      unreachable: why => { void this.#end(why) }
    })
    const handshake = this.#handshake = withTimeout(answered.then(() => standalone.start()), HANDSHAKE_WAIT, () => {})
    void handshake.then(() => { this.#handshake = undefined })
  }

  /**
   * Ends the exchange of a request that is answered on the standalone stream, as the specification forbids: its own
   * stream may stay open for ever.
   */
  #releaseAnswered (message: Message): void {
    if (message.kind !== 'response') return
    for (const request of this.#requests) if (request.id === message.id) request.drop()
  }

  async #end (why: Error): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#standalone?.close()
    this.unasked.stop()
    for (const request of this.#requests) request.drop()
    await this.#client.close()
    this.events.closed(why)
  }

  /** Settles when the reply is there; what it says does not matter. */
  #control (method: 'POST' | 'DELETE', body: string | undefined, timeout: number, caller?: string): Promise<void> {
    const headers = [...this.#always, ...COMMON, ...this.#sessionHeaders()]
    return new Promise(resolve => {
      const exchange = this.#client.control(
        { method, path: this.#path, headers, timeout, maxBody: MAX_IGNORED, ...(body === undefined ? {} : { body }) },
        {
          onHead: status => {
            if (status === 404 && method === 'POST' && this.hasSession) this.#expire()
            resolve()
          },
          onData: () => {},
          onEnd: resolve,
          onError: () => resolve()
        },
        caller
      )
      // A server that asks faster than it takes answers does not get them all.
      if (exchange === undefined) resolve()
    })
  }

  #headersOf ({ method, params, version, headers }: LinkRequest): string[] {
    const more = headers === undefined ? [] : Object.entries(headers).flat()
    return version !== undefined
      ? [...this.#always, ...COMMON, 'mcp-protocol-version', version, ...mirrorMessage(method, params), ...more]
      : [...this.#always, ...COMMON, ...this.#sessionHeaders(), ...more]
  }

  #streamHeaders (lastEventId: string | undefined): string[] {
    const after = lastEventId !== undefined && /^[\x20-\x7e]+$/.test(lastEventId) ? ['last-event-id', lastEventId] : []
    return [
      ...this.#always,
      'accept',
      'text/event-stream',
      'accept-encoding',
      'identity',
      ...this.#sessionHeaders(),
      ...after
    ]
  }

  /** The headers of every request. */
  get #always (): string[] {
    return this.credential === undefined ? this.#configured : [...this.#configured, ...bearerHeader(this.credential)]
  }

  #sessionHeaders (): string[] {
    return [
      ...(this.#sessionId === undefined ? [] : ['mcp-session-id', this.#sessionId]),
      ...(this.#revision === undefined ? [] : ['mcp-protocol-version', this.#revision.version])
    ]
  }
}
