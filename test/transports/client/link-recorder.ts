import { newestStateful } from '../../../protocol/revisions/table.js'
import type { Channel } from '../../../protocol/wire/channel.js'
import {
  encodeNotification,
  encodeRequest,
  type Id,
  type Message,
  type Params
} from '../../../protocol/wire/jsonrpc.js'
import { META, metaOf } from '../../../protocol/wire/meta.js'
import { LIMITS } from '../../../protocol/wire/limits.js'
import type { UrlDialOptions } from '../../../transports/client/dial-url.js'
import type { Dial, Link, LinkEvents } from '../../../transports/client/link.js'
import { ReplyBudget } from '../../../transports/client/reply-budget.js'
import { Mailbox } from '../../support/mailbox.js'

export const OPTIONS: UrlDialOptions = {
  maxMessage: 1024 * 1024,
  limits: LIMITS,
  listLimits: LIMITS,
  replies: new ReplyBudget(Infinity, Infinity),
  maxUnasked: 20_000,
  connections: 16,
  maxQueue: 1024 * 1024,
  heartbeat: 30_000,
  maxPings: 100
}

export type Report =
  | { what: 'message', message: Message, on: Channel | undefined, status: number | undefined }
  | { what: 'failed', id: Id | undefined, why: string, status: number | undefined }
  | { what: 'expired', id: Id | undefined }
  | { what: 'closed', why: string }

/** Drives a link and records what it reports. */
export class LinkRecorder {
  readonly reports = new Mailbox<Report>()
  /** The requests that have no response yet. */
  readonly asked = new Set<Id>()
  readonly events: LinkEvents = {
    message: (message, on, status) => {
      this.reports.push({ what: 'message', message, on, status })
      return message.kind === 'response' && message.id !== undefined && this.asked.delete(message.id)
    },
    failed: (id, error, status) => this.reports.push({ what: 'failed', id, why: error.message, status }),
    expired: id => this.reports.push({ what: 'expired', id }),
    closed: why => this.reports.push({ what: 'closed', why: why.message })
  }

  #link: Link | undefined
  #lastId = 0

  async dial (dial: Dial): Promise<this> {
    this.#link = await dial(this.events, new AbortController().signal)
    return this
  }

  get link (): Link {
    if (this.#link === undefined) throw new Error('not dialled')
    return this.#link
  }

  /** Sends a request; returns its id, its channel, and how to cancel it. */
  send (
    method: string,
    params: Params = {},
    headers?: Record<string, string>
  ): { id: Id, channel: Channel, cancel: () => void } {
    const id = ++this.#lastId
    const version = metaOf(params)[META.version] as string | undefined
    const channel = this.link.channelFor({ id, method, params, version, headers })
    this.asked.add(id)
    channel.emit(encodeRequest(id, method, params), method)
    return {
      id,
      channel,
      cancel: () =>
        channel.emit(encodeNotification('notifications/cancelled', { requestId: id }), 'notifications/cancelled')
    }
  }

  /** Sends a request and gives its response, or its failure. */
  async ask (method: string, params: Params = {}, headers?: Record<string, string>): Promise<Report> {
    const { id } = this.send(method, params, headers)
    return await this.outcome(id)
  }

  outcome (id: Id): Promise<Report> {
    return this.reports.take(
      `the outcome of ${id}`,
      report =>
        (report.what === 'message' && report.message.kind === 'response' && report.message.id === id) ||
        ((report.what === 'failed' || report.what === 'expired') && report.id === id)
    )
  }

  message (method: string): Promise<Report> {
    return this.reports.take(
      method,
      report => report.what === 'message' && 'method' in report.message && report.message.method === method
    )
  }

  /** The handshake of a legacy revision. */
  async initialize (): Promise<Report> {
    const report = await this.ask('initialize', {
      protocolVersion: newestStateful.version,
      capabilities: { elicitation: {}, sampling: {} },
      clientInfo: { name: 'recorder', version: '1' }
    })
    this.link.setRevision(newestStateful)
    this.link.channel.emit(encodeNotification('notifications/initialized'), 'notifications/initialized')
    return report
  }
}
