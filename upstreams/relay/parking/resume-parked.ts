import type { Call } from '../../../protocol/dispatch/call.js'
import { errors } from '../../../protocol/wire/errors.js'
import type { CarriedState } from '../questions/carried-state.js'
import { ParkableCall } from './parkable-call.js'
import type { ParkedCalls } from './parked-calls.js'

/** Goes on with a parked call. Throws when it does not wait any more; it is never sent to the upstream again. */
export function resumeParked (call: Call, upstream: string, calls: ParkedCalls, { parkedId, nonce }: NonNullable<CarriedState['parked']>): Promise<Record<string, unknown>> {
  if (nonce !== calls.nonce) throw errors.notWaiting(upstream, 'not here any more')
  const parked = calls.get(parkedId)
  if (!(parked instanceof ParkableCall)) throw errors.notWaiting(upstream, 'answered already, or too late')
  const { inputResponses } = call.params
  parked.check(inputResponses)
  // Nothing is awaited since `get`, so of two requests with one id the second finds none.
  calls.take(parkedId)
  return parked.resume(call, inputResponses)
}
