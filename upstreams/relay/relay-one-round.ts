import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import type { McpConnection, UpstreamRequest } from '../ports.js'
import { answersFor, carryState, type CarriedState } from './questions/carried-state.js'
import { readInputRequired } from './questions/input-required.js'
import { isAnswerable, notOffered, type Question } from './questions/question.js'
import { requestTraced } from './request-traced.js'

/**
 * Both sides are stateless: the upstream's questions and the client's answers are passed on as they are, and the
 * upstream's state travels sealed in ours. Nothing is kept between two rounds, so any process that has the secret can
 * serve the next one.
 */
export async function relayOneRound (
  call: Call,
  upstream: string,
  connection: McpConnection,
  request: UpstreamRequest,
  carried: CarriedState | undefined
): Promise<Record<string, unknown>> {
  if (carried?.parked !== undefined) throw errors.notWaiting(upstream, 'the server was replaced')
  const result = await requestTraced(call, connection, withAnswers(request, answersFor(call), carried?.state))
  const asked = readInputRequired(result, request.method, connection.revision, upstream)
  if (asked === undefined) return result
  for (const question of Object.values(asked.questions)) {
    if (!isAnswerable(question, request.capabilities ?? {}, call.revision)) {
      throw errors.upstreamFailed(upstream, notOffered(question))
    }
  }
  return {
    ...result,
    ...deferQuestions(call, result.inputRequests, asked.questions),
    requestState: carryState(call, { upstream, state: asked.state })
  }
}

/** Counts the questions. They stay as they are, but where calls are traced each names its span. */
function deferQuestions (
  call: Call,
  inputRequests: unknown,
  questions: Readonly<Record<string, Question>>
): { inputRequests?: object } {
  const named = Object.entries(questions).map(
    ([key, { method, params }]) =>
      [
        key,
        { ...(inputRequests as Record<string, object>)[key], params: call.clientRequests.deferred.add(method, params) }
      ] as const
  )
  return call.trace === undefined || named.length === 0 ? {} : { inputRequests: Object.fromEntries(named) }
}

function withAnswers (request: UpstreamRequest, inputResponses: unknown, state: string | undefined): UpstreamRequest {
  if (inputResponses === undefined && state === undefined) return request
  return {
    ...request,
    params: {
      ...request.params,
      ...(inputResponses === undefined ? {} : { inputResponses }),
      ...(state === undefined ? {} : { requestState: state })
    }
  }
}
