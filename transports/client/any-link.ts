import type { Revision } from '../../protocol/revisions/revision.js'
import type { Channel } from '../../protocol/wire/channel.js'
import type { Id, Message } from '../../protocol/wire/jsonrpc.js'
import type { Link, LinkEvents, LinkRequest } from './link.js'

/** The statuses with which a server that knows HTTP+SSE alone answers a POST to the URL of its stream. */
const NOT_HERE = new Set<number | undefined>([400, 404, 405])

/**
 * A link over Streamable HTTP that becomes one over HTTP+SSE when `initialize` is refused as the specification
 * describes, and a stream is there.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#backward-compatibility
 */
export class AnyLink implements Link {
  readonly channel: Channel
  readonly #events: LinkEvents
  readonly #openSse: (events: LinkEvents, signal: AbortSignal) => Promise<Link>
  readonly #closing = new AbortController()
  #link: Link | undefined
  #initialize: { request: LinkRequest, text: string } | undefined

  constructor (events: LinkEvents, openSse: (events: LinkEvents, signal: AbortSignal) => Promise<Link>) {
    this.#events = events
    this.#openSse = openSse
    this.channel = {
      streams: true,
      respond: (text, status) => this.#link?.channel.respond(text, status),
      emit: (text, method) => this.#link?.channel.emit(text, method),
      end: () => {}
    }
  }

  /** `open` gets the events of the link that is tried first. */
  async open (open: (events: LinkEvents) => Promise<Link>): Promise<this> {
    this.#link = await open({
      message: (message, on, status) =>
        this.#falls(idOf(message), status, () => this.#events.message(message, on, status)) ||
        this.#events.message(message, on, status),
      failed: (id, error, status) => {
        if (!this.#falls(id, status, () => this.#events.failed(id, error, status))) {
          this.#events.failed(id, error, status)
        }
      },
      expired: id => this.#events.expired?.(id),
      closed: why => {
        if (this.transport === 'http') this.#events.closed(why)
      }
    })
    return this
  }

  get transport (): Link['transport'] {
    return this.#link?.transport ?? 'http'
  }

  channelFor (request: LinkRequest): Channel {
    const link = this.#link
    if (link === undefined) return this.channel
    const channel = link.channelFor(request)
    if (request.method !== 'initialize' || link.transport !== 'http') return channel
    return {
      streams: true,
      respond: (text, status) => channel.respond(text, status),
      emit: (text, method) => {
        this.#initialize = method === request.method ? { request, text } : undefined
        channel.emit(text, method)
      },
      end: () => {}
    }
  }

  setRevision (revision: Revision): void {
    this.#link?.setRevision(revision)
  }

  async close (): Promise<void> {
    this.#closing.abort(new Error('the connection was closed'))
    await this.#link?.close()
  }

  /**
   * True when the failure is of `initialize`, and HTTP+SSE is tried; `giveUp` reports the failure if that does not work
   * either.
   */
  #falls (id: Id | undefined, status: number | undefined, giveUp: () => void): boolean {
    const initialize = this.#initialize
    if (initialize === undefined || id !== initialize.request.id || !NOT_HERE.has(status)) return false
    this.#initialize = undefined
    void this.#fallBack(initialize).catch(giveUp)
    return true
  }

  async #fallBack ({ request, text }: { request: LinkRequest, text: string }): Promise<void> {
    const link = await this.#openSse(this.#events, this.#closing.signal)
    const former = this.#link
    this.#link = link
    await former?.close()
    if (this.#closing.signal.aborted) return await link.close()
    link.channelFor(request).emit(text, request.method)
  }
}

const idOf = (message: Message): Id | undefined =>
  message.kind === 'response' && message.error !== undefined ? message.id : undefined
