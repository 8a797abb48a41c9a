import type { Revision } from '../../../protocol/revisions/revision.js'
import { errors } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import { isRelayedQuestion, type Question } from './question.js'

/** How many questions one result may have. Each becomes a request of its own to a client with a handshake. */
export const MAX_QUESTIONS = 64

/** Questions that a stateless upstream asks with its result, by its own keys, and the state it wants back. */
export interface InputRequired {
  readonly questions: Readonly<Record<string, Question>>
  readonly state: string | undefined
}

/**
 * The questions in a result; undefined when it is the final one. Throws an error that names the upstream when they are
 * malformed.
 */
export function readInputRequired (
  result: Record<string, unknown>,
  method: string,
  revision: Revision,
  upstream: string
): InputRequired | undefined {
  if (result.resultType !== 'input_required') return undefined
  const { inputRequests = {}, requestState } = result
  const wrong = (why: string) => errors.upstreamFailed(upstream, why)
  if (!revision.mayRequestInput(method)) throw wrong(`input_required is not an answer to ${method}`)
  if (result.inputRequests === undefined && requestState === undefined) {
    throw wrong('input_required has neither inputRequests nor requestState')
  }
  if (requestState !== undefined && typeof requestState !== 'string') throw wrong('requestState is not a string')
  if (!isObject(inputRequests)) throw wrong('inputRequests is not an object')
  if (Object.keys(inputRequests).length > MAX_QUESTIONS) {
    throw wrong(`it asks more than ${MAX_QUESTIONS} questions at once`)
  }
  const questions = Object.entries(inputRequests).map(([key, request]) => {
    const question = readQuestion(request)
    if (question === undefined) {
      throw wrong(`${JSON.stringify(key)} in inputRequests is not a question that a client can be asked`)
    }
    return [key, question] as const
  })
  if (questions.length === 0 && requestState === undefined) {
    throw wrong('inputRequests is empty and there is no requestState')
  }
  return { questions: Object.fromEntries(questions), state: requestState }
}

function readQuestion (request: unknown): Question | undefined {
  if (!isObject(request)) return undefined
  const { method, params = {} } = request
  return typeof method === 'string' && isRelayedQuestion(method) && isObject(params) ? { method, params } : undefined
}
