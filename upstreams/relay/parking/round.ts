import type { Cancellation } from '../../../lib/abort.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { clientOf } from '../client-of.js'
import { forwardLog, forwardProgress } from '../forward-notifications.js'
import { carryState, type ParkedAt } from '../questions/carried-state.js'

/** One request of a client, of several that a parked call serves one after the other. */
export interface Round {
  /** Undefined for a round at another node: its client is the one that got the state of the round before. */
  readonly client: object | string | undefined
  readonly capabilities: Record<string, unknown>
  /** True once the client was answered, because the call took long. */
  readonly isAnswered?: boolean
  /** Happens when the client leaves. */
  readonly cancellation: Cancellation
  progress (params: Params): void
  log (params: Params): void
}

type Result = Record<string, unknown>

/** The outcome of a round for its client: the result, or questions and where the call waits for their answers. */
export type RoundOutcome =
  { readonly result: Result } | { readonly questions: Record<string, object>; readonly parked: ParkedAt }

/** Goes on with calls that are parked at other nodes. */
export interface ForwardedRounds {
  /** This node. */
  readonly self: string
  resume: (call: Call, upstream: string, parked: ParkedAt, node: string) => Promise<RoundOutcome>
}

/** A client's request that reached this node. */
export class ClientRound implements Round {
  readonly #call: Call

  constructor (call: Call) {
    this.#call = call
  }

  get client (): object | string {
    return clientOf(this.#call)
  }

  get capabilities (): Record<string, unknown> {
    return this.#call.capabilities
  }

  get isAnswered (): boolean {
    return this.#call.channel.isAnswered === true
  }

  get cancellation (): Cancellation {
    return this.#call.response.cancellation
  }

  progress (params: Params): void {
    forwardProgress(this.#call, params)
  }

  log (params: Params): void {
    forwardLog(this.#call, params)
  }
}

/**
 * The outcome as the result of the client's call. The state is sealed here, for the call that is answered with it, and
 * good for `lifetime` milliseconds.
 */
export function toResult (outcome: RoundOutcome, call: Call, upstream: string, lifetime: number): Result {
  if ('result' in outcome) return outcome.result
  const { questions, parked } = outcome
  return {
    resultType: 'input_required',
    inputRequests: questions,
    requestState: carryState(call, { upstream, parked }, lifetime)
  }
}
