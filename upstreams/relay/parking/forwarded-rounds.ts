import type { LongInquiries } from '../../../protocol/nodes/long-inquiries.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { binding } from '../../../protocol/questions/request-state.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { forwardLog, forwardProgress } from '../forward-notifications.js'
import type { ParkedAt } from '../questions/carried-state.js'
import { takeOutcome, type CarriedOutcome } from './carried-outcome.js'
import type { RoundOutcome } from './round.js'

/** News of a round at another node, for the client. */
export type RoundNews = { readonly progress: Params } | { readonly log: Params }

/** Rounds of clients that reach this node and whose calls are parked at another. */
export class ForwardedRounds {
  readonly self: string
  readonly #inquiries: LongInquiries

  constructor (self: string, inquiries: LongInquiries) {
    this.self = self
    this.#inquiries = inquiries
  }

  /** Gives the answers of the client to the node with its call, and settles as the call goes on there. Throws when that node is gone. */
  async resume (call: Call, upstream: string, { parkedId, nonce }: ParkedAt, node: string): Promise<RoundOutcome> {
    const { method, params, principal, capabilities, logLevel, response: { cancellation } } = call
    const outcome = await this.#inquiries.ask(node, {
      kind: 'resume', upstream, parkedId, nonce, principal, bound: binding(method, params, principal), capabilities, logLevel, answers: params['inputResponses']
    }, news => forward(call, news as RoundNews), cancellation)
    if (outcome === 'absent') throw errors.notWaiting(upstream, 'not here any more')
    if (outcome === 'lost') throw errors.upstreamGone(upstream, 'the node that called it has ended')
    return takeOutcome(outcome.answer as CarriedOutcome)
  }
}

function forward (call: Call, news: RoundNews): void {
  if ('progress' in news) forwardProgress(call, news.progress)
  else forwardLog(call, news.log)
}
