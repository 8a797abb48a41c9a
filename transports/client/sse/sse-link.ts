import type { IncomingHttpHeaders } from 'node:http'
import { SseReader, type SseEvent } from '../../../lib/sse-reader.js'
import { withTimeout } from '../../../lib/time.js'
import type { Channel } from '../../../protocol/wire/channel.js'
import type { Id } from '../../../protocol/wire/jsonrpc.js'
import { concernOf } from '../answered-id.js'
import type { HttpClient } from '../http/http-client.js'
import type { HttpExchange, ReplyReceiver } from '../http/http-exchange.js'
import { bodyKind } from '../http/reply-body.js'
import { statusError, type Authorized } from '../http/reply-status.js'
import { bearerHeader } from '../credential.js'
import type { Link, LinkEvents, LinkRequest, LinkLimits } from '../link.js'
import { IncomingReply, isLarge } from '../reply-budget.js'
import { MessageDecoder, reportMessages } from '../report-messages.js'
import { PausableSource, UnaskedMessages } from '../unasked-messages.js'

export interface SseTarget extends Pick<Authorized, 'headers' | 'credential'> {
  readonly client: HttpClient
  readonly path: string
}

/** How long the reply to a POST may take, in milliseconds: what it leads to comes on the stream. */
const POST_TIMEOUT = 30_000
/** How much of the body of such a reply is read, so that its connection can be used again. */
const MAX_IGNORED = 65_536
/** How long requests wait for the reply to `notifications/initialized`. */
const HANDSHAKE_WAIT = 2_000

/** HTTP+SSE as a client: one stream for everything that comes, a POST for each message that goes. */
export class SseLink implements Link, ReplyReceiver {
  readonly transport = 'sse'
  readonly channel: Channel
  readonly #target: SseTarget
  readonly #limits: LinkLimits
  readonly #events: LinkEvents
  readonly #onOpen: (failure: Error | undefined) => void
  readonly #reader: SseReader
  readonly #unasked: UnaskedMessages
  readonly #decoder: MessageDecoder
  /** Requests whose POST has no reply yet. */
  readonly #posts = new Map<Id, HttpExchange>()
  #stream: HttpExchange | undefined
  /** The token that the stream was opened with. */
  #token: string | undefined
  #source: PausableSource | undefined
  #incoming: IncomingReply | undefined
  /** Where messages are posted; undefined until the server has said so. */
  #endpoint: string | undefined
  #version: string | undefined
  #handshake: Promise<void> | undefined
  #isClosed = false

  /** `onOpen` is called once, when messages can be sent or the attempt has failed. */
  constructor (
    target: SseTarget,
    limits: LinkLimits,
    events: LinkEvents,
    onOpen: (failure: Error | undefined) => void
  ) {
    this.#target = target
    this.#limits = limits
    this.#events = events
    this.#onOpen = onOpen
    this.#unasked = new UnaskedMessages(limits.maxUnasked)
    this.#decoder = new MessageDecoder(limits)
    this.#reader = new SseReader(limits.maxMessage, {
      event: event => this.#take(event),
      skipped: (head, tail) => this.#skip(head, tail),
      line: bytes => { if (this.#source !== undefined) this.#unasked.addLine(this.#source, bytes) }
    })
    this.channel = this.#channel(undefined, undefined)
  }

  open (): void {
    const { client, path, headers: configured, credential } = this.#target
    this.#token = credential?.token
    const authorized = [...configured, ...bearerHeader(credential)]
    const headers = [...authorized, 'accept', 'text/event-stream', 'accept-encoding', 'identity']
    this.#stream = client.stream({ method: 'GET', path, headers }, this)
    this.#source = new PausableSource(this.#reader, this.#stream, () => {
      if (this.#incoming !== undefined) this.#count()
    })
  }

  channelFor (request: LinkRequest): Channel {
    this.#decoder.expect(request)
    return this.#channel(request.id, request.caller)
  }

  setRevision ({ version }: { version: string }): void {
    this.#version = version
  }

  async close (): Promise<void> {
    await this.#end(new Error('the connection was closed'))
  }

  onHead (status: number, headers: IncomingHttpHeaders): void {
    if (status !== 200) {
      void this.#end(statusError(status, headers, { ...this.#target, token: this.#token }))
    } else if (bodyKind(headers) !== 'events') {
      void this.#end(
        new Error('what it sends is no event stream; see that "url" of this server is that of its SSE endpoint')
      )
    }
  }

  onData (chunk: Buffer): void {
    if (this.#isClosed) return
    this.#reader.push(chunk)
    if (this.#incoming !== undefined || isLarge(this.#reader.size)) this.#count()
  }

  onEnd (): void {
    this.#reader.end()
    void this.#end(new Error('it closed the event stream'))
  }

  onError (error: Error): void {
    void this.#end(error)
  }

  #channel (id: Id | undefined, caller: string | undefined): Channel {
    return {
      streams: true,
      respond: text => this.#send(text, undefined, undefined, caller),
      emit: (text, method) =>
        method === 'notifications/cancelled' ? this.#cancel(text, id, caller) : this.#send(text, method, id, caller),
      end: () => {}
    }
  }

  #count (): void {
    if (this.#source !== undefined) this.#incoming ??= new IncomingReply(this.#limits.replies, this, this.#source)
    this.#incoming?.update(this.#isClosed ? 0 : this.#reader.size)
  }

  #take ({ type, data }: SseEvent): void {
    if (this.#isClosed) return
    if (type === 'endpoint') return this.#readEndpoint(data.toString())
    if (type !== 'message' || data.length === 0) return
    if (this.#source !== undefined) reportMessages(data, this.#decoder, this.#events, this.#unasked, this.#source)
  }

  /** Reads the URL for posts. These have the configured headers, so they go to the same origin only. */
  #readEndpoint (text: string): void {
    if (this.#endpoint !== undefined) return
    const { client: { origin }, path } = this.#target
    const endpoint = URL.canParse(text, origin + path) ? new URL(text, origin + path) : undefined
    if (endpoint?.origin === origin) {
      this.#endpoint = endpoint.pathname + endpoint.search
      this.#onOpen(undefined)
    } else {
      void this.#end(
        new Error(
          'the endpoint that it names is at another origin, which is not used, because configured headers would go there'
        )
      )
    }
  }

  #skip (head: Buffer, tail: Buffer): void {
    const concern = concernOf(head, tail)
    if (concern !== undefined && !this.#isClosed) {
      this.#events.failed(
        concern.id,
        new Error(`its answer has more than ${this.#limits.maxMessage} bytes (limit maxUpstreamMessage)`)
      )
    }
  }

  #send (text: string, method: string | undefined, id: Id | undefined, caller: string | undefined): void {
    if (this.#isClosed) return
    if (method === 'notifications/initialized') {
      const handshake = this.#handshake = withTimeout(this.#post(text, undefined, undefined), HANDSHAKE_WAIT, () => {})
      void handshake.then(() => { this.#handshake = undefined })
    } else if (this.#handshake !== undefined) void this.#handshake.then(() => this.#post(text, id, caller))
    else void this.#post(text, id, caller)
  }

  /** A request that still waits for a connection would be sent behind its cancellation: neither is sent. */
  #cancel (text: string, id: Id | undefined, caller: string | undefined): void {
    if (this.#handshake !== undefined) {
      void this.#handshake.then(() => this.#cancel(text, id, caller))
      return
    }
    const post = id === undefined ? undefined : this.#posts.get(id)
    if (id === undefined || post === undefined || post.isStarted) return this.#send(text, undefined, undefined, caller)
    this.#posts.delete(id)
    post.abort()
  }

  /** Settles when the reply to the POST is there. With an id, it reports what went wrong. */
  #post (body: string, id: Id | undefined, caller: string | undefined): Promise<void> {
    const { client, headers: configured, credential } = this.#target
    const token = credential?.token
    const version = this.#version === undefined ? [] : ['mcp-protocol-version', this.#version]
    const authorized = [...configured, ...bearerHeader(credential)]
    const headers = [...authorized, 'content-type', 'application/json', 'accept-encoding', 'identity', ...version]
    const request = {
      method: 'POST' as const,
      path: this.#endpoint ?? '/',
      headers,
      body,
      timeout: POST_TIMEOUT,
      maxBody: MAX_IGNORED
    }
    return new Promise(resolve => {
      let isDone = false
      const done = (why?: Error, status?: number): void => {
        // Bytes after the head of a reply do not matter.
        if (isDone) return
        isDone = true
        if (id !== undefined) this.#posts.delete(id)
        if (why !== undefined && id !== undefined && !this.#isClosed) this.#events.failed(id, why, status)
        resolve()
      }
      const receiver: ReplyReceiver = {
        onHead: (status, head) =>
          status < 300 ? done() : done(statusError(status, head, { ...this.#target, token }), status),
        onData: () => {},
        onEnd: done,
        onError: done
      }
      const exchange =
        id === undefined ? client.control(request, receiver, caller) : client.call(request, receiver, caller)
      if (id !== undefined && exchange !== undefined && !isDone) this.#posts.set(id, exchange)
      if (exchange === undefined) done(new Error('too much waits to be sent to it already; try again later'))
    })
  }

  async #end (why: Error): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#unasked.stop()
    this.#incoming?.update(0)
    this.#stream?.abort()
    if (this.#endpoint === undefined) this.#onOpen(why)
    else this.#events.closed(why)
    await this.#target.client.close()
  }
}
