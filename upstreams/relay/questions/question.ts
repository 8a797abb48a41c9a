import { convert } from '../../../protocol/revisions/convert.js'
import { elicitation } from '../../../protocol/revisions/elicitation.js'
import type { Features, Revision } from '../../../protocol/revisions/revision.js'
import { declares } from '../../../protocol/questions/client-request.js'
import type { ElicitAnswer } from '../../../protocol/wire/client-answers.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'

/** A question of an upstream to the client, without what belongs to its hop. */
export interface Question { readonly method: string, readonly params: Params }

const ELICITATION = 'elicitation/create'
const SAMPLING = 'sampling/createMessage'
const ROOTS = 'roots/list'

/** The questions that are relayed. */
export const isRelayedQuestion = (method: string): boolean =>
  method === ELICITATION || method === SAMPLING || method === ROOTS

/** True when the answer is given on a page in the browser. */
export const isPage = ({ method, params }: Question): boolean =>
  method === ELICITATION && (params.mode === 'url' || params.url !== undefined)

/** The capability that the client must have declared. */
export function capabilityFor (question: Question): Record<string, object> {
  if (question.method === ELICITATION) return { elicitation: isPage(question) ? { url: {} } : { form: {} } }
  if (question.method === ROOTS) return { roots: {} }
  return { sampling: question.params.tools === undefined ? {} : { tools: {} } }
}

/** True when the client declared what the question needs, and its revision knows such questions. */
export function isAnswerable (
  question: Question,
  capabilities: Readonly<Record<string, unknown>>,
  { features }: Revision
): boolean {
  if (
    question.method === ELICITATION &&
    !elicitation.isKnown(isPage(question) ? { url: question.params.url ?? '' } : {}, features)
  ) { return false }
  return isRelayedQuestion(question.method) && declares(capabilities, capabilityFor(question))
}

/**
 * Why a question of a stateless upstream is a mistake of the upstream: such questions were not among the capabilities
 * that it got.
 */
export const notOffered = ({ method }: Question): string =>
  `it asks for ${method}, which the client did not declare, or its configuration forbids`

/** The params as the client's revision can say them. */
export function toClientParams ({ method, params }: Question, features: Features): Params {
  if (method === ELICITATION) return elicitation.relay(params, features)
  return method === SAMPLING ? convert.sampling(params, features) : params
}

/** The client's answer in the form in which the upstream asked. */
export function toUpstreamAnswer ({ method, params }: Question, answer: object, features: Features): object {
  if (method !== ELICITATION || !isObject(params.requestedSchema)) return answer
  return elicitation.answer(answer as ElicitAnswer, params.requestedSchema, features)
}

/** Finds the fault of an answer; undefined when it has the form of one. Its content is for the upstream to judge. */
export function faultOf ({ method }: Question, answer: unknown): string | undefined {
  if (!isObject(answer)) return 'must be an object'
  if (method === ELICITATION) {
    if (!['accept', 'decline', 'cancel'].includes(answer.action as string)) {
      return 'action must be accept, decline or cancel'
    }
    return answer.content === undefined || isObject(answer.content) ? undefined : 'content must be an object'
  }
  if (method === ROOTS) return Array.isArray(answer.roots) ? undefined : 'roots must be an array'
  if (typeof answer.role !== 'string' || typeof answer.model !== 'string') return 'role and model must be strings'
  return typeof answer.content === 'object' && answer.content !== null
    ? undefined
    : 'content must be an object or an array'
}
