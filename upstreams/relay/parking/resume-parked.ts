import type { Call } from '../../../protocol/dispatch/call.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { ParkedAt } from '../questions/carried-state.js'
import { ParkableCall } from './parkable-call.js'
import type { ParkedCalls } from './parked-calls.js'
import { ClientRound, toResult, type Round, type RoundOutcome } from './round.js'

/**
 * Goes on with a parked call, here or at the node where it is parked. Throws when it does not wait any more; it is
 * never sent to the upstream again.
 */
export async function resumeParked (
  call: Call,
  upstream: string,
  calls: ParkedCalls,
  parked: ParkedAt
): Promise<Record<string, unknown>> {
  const {
    forwarded,
    nonce,
    limits: { parkedCallLifetime }
  } = calls
  const isElsewhere = parked.nonce !== nonce && parked.node !== undefined && parked.node !== forwarded?.self
  const outcome =
    isElsewhere && forwarded !== undefined
      ? await forwarded.resume(call, upstream, parked, parked.node)
      : await resumeHere(
        findParked(calls, upstream, parked),
        calls,
        parked.parkedId,
        new ClientRound(call),
        call.params['inputResponses']
      )
  return toResult(outcome, call, upstream, parkedCallLifetime)
}

/** Throws when it is not parked here. */
export function findParked (
  calls: ParkedCalls,
  upstream: string,
  { parkedId, nonce }: Pick<ParkedAt, 'parkedId' | 'nonce'>
): ParkableCall {
  if (nonce !== calls.nonce) throw errors.notWaiting(upstream, 'not here any more')
  const parked = calls.get(parkedId)
  if (!(parked instanceof ParkableCall) || parked.upstream !== upstream) {
    throw errors.notWaiting(upstream, 'answered already, or too late')
  }
  return parked
}

/**
 * Nothing may be awaited since `findParked`, so that of two requests with one id the second finds none. Throws when an
 * answer is malformed; the call stays parked then.
 */
export function resumeHere (
  parked: ParkableCall,
  calls: ParkedCalls,
  parkedId: string,
  round: Round,
  answers: unknown
): Promise<RoundOutcome> {
  parked.check(answers)
  calls.take(parkedId)
  return parked.resume(round, answers)
}
