import type { ElicitAnswer } from '../wire/client-answers.js'
import type { ClientRequest } from './client-request.js'

/** Answers forms of one call in place of its client. The signal takes the question back. */
export type StandIn = (form: ClientRequest, signal: AbortSignal) => Promise<ElicitAnswer>

/** The decision of the rules as far as it is about questions. */
export interface Answering {
  /** The answers of an operator, where the rule lets one answer. */
  readonly questions?: StandIn
  /** Set where a person has to approve the call first, and where one has. */
  readonly asks?: unknown
  readonly approved?: unknown
}

const FORMS = 'elicitation/create'

/** True for a question to the user that is answered in a form, not on a page. */
export const isForm = ({ method, params }: ClientRequest): boolean =>
  method === FORMS && params.url === undefined && params.mode !== 'url'

/**
 * The operator who answers a question of a call whose client cannot be asked; undefined where none may. The question
 * whether the call may run at all is never one of these.
 */
export function standInFor (ruled: Answering | undefined, question: ClientRequest): StandIn | undefined {
  if (ruled?.questions === undefined || !isForm(question)) return undefined
  return ruled.asks !== undefined && ruled.approved === undefined ? undefined : ruled.questions
}
