import type { Cancellation } from '../../../lib/abort.js'
import type { ResumeQuestion } from '../../../protocol/nodes/message.js'
import { errors } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { carryError, type CarriedOutcome } from './carried-outcome.js'
import type { RoundNews } from './forwarded-rounds.js'
import type { ParkedCalls } from './parked-calls.js'
import { findParked, resumeHere } from './resume-parked.js'

/** Goes on with a call that is parked here, for a client whose request reached another node. Never rejects. */
export async function serveRound (calls: ParkedCalls, question: ResumeQuestion, onNews: (news: RoundNews) => void, cancellation: Cancellation): Promise<CarriedOutcome> {
  const { upstream, parkedId, principal, bound, capabilities, answers } = question
  try {
    const parked = findParked(calls, upstream, question)
    if (!parked.isOf(principal, bound)) throw errors.stateRefused('was not issued for this request')
    return await resumeHere(parked, calls, parkedId, {
      client: undefined,
      capabilities: isObject(capabilities) ? capabilities : {},
      cancellation,
      progress: params => onNews({ progress: params }),
      // Without a level the client wants none.
      log: params => { if (question.logLevel !== undefined) onNews({ log: params }) }
    }, answers)
  } catch (error) {
    return carryError(error)
  }
}
