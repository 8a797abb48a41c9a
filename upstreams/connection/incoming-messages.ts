import { Listeners } from '../../lib/listeners.js'
import type { Channel } from '../../protocol/wire/channel.js'
import { isId, type Params, type Request } from '../../protocol/wire/jsonrpc.js'
import type { ConnectionLog } from '../ports.js'
import type { ServerEntry } from '../server-entry.js'
import { RequestFailed } from './failure.js'
import { ProtocolViolations } from './protocol-violations.js'
import { QuestionsOfUpstream } from './questions-of-upstream.js'
import type { UpstreamPeer } from './upstream-peer.js'

/** Gives the requests and notifications of an upstream to the call or the listeners that they are for. */
export class IncomingMessages {
  readonly #alias: string
  readonly #log: ConnectionLog
  readonly #questions: QuestionsOfUpstream
  readonly violations: ProtocolViolations
  /** Listeners to notifications that belong to no call. */
  readonly listeners = new Listeners<[method: string, params: Params]>()

  constructor (entry: ServerEntry, maxQuestions: number, log: ConnectionLog) {
    const { alias } = entry
    this.#alias = alias
    this.#log = log
    this.#questions = new QuestionsOfUpstream(entry, maxQuestions)
    this.violations = new ProtocolViolations((count, latest) =>
      log.warn({ upstream: alias, count }, `upstream ${alias} sent what it should not have sent: ${latest}`)
    )
  }

  async answer (request: Request, on: Channel | undefined, peer: UpstreamPeer): Promise<object | undefined> {
    return await this.#questions.answer(request, peer.calls, on)
  }

  cancelQuestions (why: Error): void {
    this.#questions.cancelAll(why)
  }

  notified (
    method: string,
    params: Params,
    on: Channel | undefined,
    peer: UpstreamPeer,
    isStateless: boolean
  ): void {
    if (method === 'notifications/progress') this.#progressed(params, on, peer)
    else if (method === 'notifications/message') this.#logged(params, on, peer)
    else if (method === 'notifications/cancelled') this.#cancelRequest(params, peer, isStateless)
    else this.listeners.notify(method, params)
  }

  #progressed (params: Params, on: Channel | undefined, peer: UpstreamPeer): void {
    const odd = peer.progress(params, on)
    if (odd !== undefined) this.violations.add(odd)
  }

  #logged (params: Params, on: Channel | undefined, peer: UpstreamPeer): void {
    const call = peer.calls.findLogging(on)
    if (call !== undefined) return call.log(params)
    this.listeners.notify('notifications/message', params)
    const context = { upstream: this.#alias, level: params['level'], data: params['data'] }
    this.#log.debug(context, `upstream ${this.#alias} logged outside of a call`)
  }

  /** Takes back a question, or ends a request of ours that has no other end, such as `subscriptions/listen`. */
  #cancelRequest ({ requestId }: Params, peer: UpstreamPeer, isStateless: boolean): void {
    if (!isId(requestId) || this.#questions.cancel(requestId)) return
    if (isStateless) peer.fail(requestId, new RequestFailed('it ended the request', undefined))
  }
}
