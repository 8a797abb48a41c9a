import { isObject } from '../../protocol/wire/json.js'
import type { WireError } from '../../protocol/wire/errors.js'
import { resultToOpenJson } from '../../protocol/wire/result.js'
import { problem, problemOfError, problemOfFailure, type RestOutcome } from './problem.js'

/** A response, without its id. */
export interface Answered { readonly result?: Record<string, unknown>, readonly error?: WireError }

const ASKS = (answersAt: string): string =>
  `The tool asks before it goes on: send {"arguments":{…},"state":"…","answers":{…}} to ${answersAt}, with the same arguments, this state, and an answer to each question by its key`
const CANNOT_ASK = 'The resource asks before it can be read, which plain HTTP has no way to answer; read it with an MCP client'

/**
 * The outcome of `tools/call`: its structured content, or else its content. `answersPath` finds where answers are sent.
 */
export function outcomeOfCall (
  { result = {}, error }: Answered,
  status: number,
  answersPath: () => string
): RestOutcome {
  if (error !== undefined) return problemOfError(error, status)
  const { resultType, inputRequests, requestState, isError, structuredContent, content = [] } = result
  if (resultType === 'input_required') {
    const answersAt = answersPath()
    const asked = { questions: inputRequests ?? {}, state: requestState, answersAt }
    return problem(409, ASKS(answersAt), asked)
  }
  if (isError === true) return problemOfFailure(result)
  return structuredContent === undefined
    ? successWith(`${resultToOpenJson({ content })}}`)
    : success(structuredContent)
}

/** The outcome of `resources/read`: its contents. */
export function outcomeOfRead ({ result = {}, error }: Answered, status: number): RestOutcome {
  if (error !== undefined) return problemOfError(error, status)
  return result.resultType === 'input_required' ? problem(501, CANNOT_ASK) : success({ contents: result.contents ?? [] })
}

/** JSON with the status 200. */
export const success = (value: unknown): RestOutcome => successWith(JSON.stringify(value))

/** The outcome of a call that goes on: where its result will be. */
export function outcomeOfAccepted (uri: string, resourcesPath: string): RestOutcome {
  const location = `${resourcesPath}?uri=${encodeURIComponent(uri)}`
  const body = JSON.stringify({ status: 'working', call: uri, resultAt: location })
  return { status: 202, body, headers: { location } }
}

const successWith = (body: string): RestOutcome => ({ status: 200, body })

/** The response in the text, as far as it is one. */
export function answerIn (text: string): Answered {
  const answer: unknown = JSON.parse(text)
  return isObject(answer) ? answer as Answered : {}
}
