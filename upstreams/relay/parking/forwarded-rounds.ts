import type { Cancellation } from '../../../lib/abort.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { ResumeRequest } from '../../../protocol/nodes/message.js'
import type { NodeCalls } from '../../../protocol/nodes/node-calls.js'
import { binding } from '../../../protocol/questions/request-state.js'
import { errors, fromWire, isMcpError, type WireError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import { forwardLog, forwardProgress } from '../forward-notifications.js'
import type { ParkedAt } from '../questions/carried-state.js'
import { ParkedCalls, type ParkingLimits } from './parked-calls.js'
import { findParked, resumeHere } from './resume-parked.js'
import type { RoundOutcome } from './round.js'

/** A notification of a round at another node, for the client. */
type RoundProgress = { readonly progress: Params } | { readonly log: Params }

/** The outcome of a round as JSON, for another node: an error that is not for clients has a text only, for the log. */
type CarriedOutcome = RoundOutcome | { readonly error: WireError } | { readonly failure: string }

/** Parks calls at this node, and goes on with them in rounds whose requests reach any node that shares the store. */
export function openParking (limits: ParkingLimits, nodeCalls: NodeCalls): ParkedCalls {
  const { self } = nodeCalls.nodes
  if (self === undefined) return new ParkedCalls(limits)
  const calls = new ParkedCalls(limits, { self, resume: async (...round) => await resumeAt(nodeCalls, ...round) })
  nodeCalls.on(
    'resume',
    async (request, onProgress, cancellation) =>
      await serveRound(calls, request, onProgress, cancellation).catch(carryError)
  )
  return calls
}

/**
 * Gives the answers of the client to the node with its call, and settles as the call goes on there. Throws when that
 * node is gone.
 */
async function resumeAt (
  nodeCalls: NodeCalls,
  call: Call,
  upstream: string,
  { parkedId, nonce }: ParkedAt,
  node: string
): Promise<RoundOutcome> {
  const {
    params,
    principal,
    capabilities,
    logLevel,
    response: { cancellation }
  } = call
  const request = {
    upstream,
    parkedId,
    nonce,
    principal,
    bound: binding(call),
    capabilities,
    logLevel,
    answers: params['inputResponses']
  }
  const { outcome, answer } = await nodeCalls.request(node, 'resume', request, {
    onProgress: progress => forward(call, progress as RoundProgress),
    cancellation
  })
  if (outcome === 'absent') throw errors.notWaiting(upstream, 'not here any more')
  if (outcome === 'lost') throw errors.upstreamGone(upstream, 'the node that called it has ended')
  return takeOutcome(answer as CarriedOutcome)
}

/** Goes on with a call that is parked here, for a client whose request reached another node. */
async function serveRound (
  calls: ParkedCalls,
  request: ResumeRequest,
  onProgress: (progress: RoundProgress) => void,
  cancellation: Cancellation
): Promise<RoundOutcome> {
  const { upstream, parkedId, principal, bound, capabilities, logLevel, answers } = request
  const parked = findParked(calls, upstream, request)
  if (!parked.isOf(principal, bound)) throw errors.stateRefused('was not issued for this request')
  return await resumeHere(
    parked,
    calls,
    parkedId,
    {
      client: undefined,
      capabilities: isObject(capabilities) ? capabilities : {},
      cancellation,
      progress: params => onProgress({ progress: params }),
      // Without a level the client wants none.
      log: params => {
        if (logLevel !== undefined) onProgress({ log: params })
      }
    },
    answers
  )
}

function forward (call: Call, progress: RoundProgress): void {
  if ('progress' in progress) forwardProgress(call, progress.progress)
  else forwardLog(call, progress.log)
}

function carryError (error: unknown): CarriedOutcome {
  if (!isMcpError(error)) return { failure: String(error) }
  const { code, message, data } = error
  return { error: { code, message, data } }
}

/** Throws the error, if it is one. */
function takeOutcome (outcome: CarriedOutcome): RoundOutcome {
  if ('error' in outcome) throw fromWire(outcome.error)
  if ('failure' in outcome) throw new Error(`the node that called the upstream server failed: ${outcome.failure}`)
  return outcome
}
