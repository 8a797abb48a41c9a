import { Cancelled, Declined, isObject, RpcError, type Handlers, type Json, type JsonObject } from './contract.js'
import { isQuestionMethod, OpenQuestions } from './open-questions.js'
import type { Session } from './session.js'

export type Send = (
  method: string,
  params: JsonObject,
  handlers?: Handlers,
  questions?: OpenQuestions
) => Promise<JsonObject>

/** A server that always asks again is stopped after this many rounds of one call. */
const MAX_ROUNDS = 50
const INVALID_REQUEST = -32600

/** Sends a request again with the answers as long as the server asks for more. */
export async function inRounds (
  session: Session,
  send: Send,
  method: string,
  params: JsonObject,
  handlers: Handlers
): Promise<JsonObject> {
  const questions = new OpenQuestions(handlers)
  let round: JsonObject = params
  for (let count = 0; count < MAX_ROUNDS; count++) {
    const result = await send(method, round, handlers, questions)
    if (result.resultType !== 'input_required') return result
    const inputResponses = await answersTo(session, result.inputRequests, questions, handlers)
    round = {
      ...params,
      inputResponses,
      ...(result.requestState === undefined ? {} : { requestState: result.requestState })
    }
  }
  throw new RpcError(INVALID_REQUEST, `the server asked more than ${MAX_ROUNDS} times`)
}

/** Settles when every question is answered; a refusal, a cancellation or the end of the connection ends the call. */
async function answersTo (
  session: Session,
  requests: Json | undefined,
  questions: OpenQuestions,
  { signal, onQuestion }: Handlers
): Promise<JsonObject> {
  if (onQuestion === undefined) {
    throw new RpcError(INVALID_REQUEST, 'the server asks a question, which nothing here answers')
  }
  const asked = Object.entries(isObject(requests) ? requests : {})
  const { interrupted, stop } = interruptionOf(session, signal)
  try {
    const answers = await Promise.race([
      Promise.all(asked.map(async ([key, request]) => [key, await answerTo(key, request, questions)] as const)),
      interrupted
    ])
    return Object.fromEntries(answers)
  } finally {
    stop()
    questions.removeAll()
  }
}

async function answerTo (key: string, request: Json, questions: OpenQuestions): Promise<JsonObject> {
  const { method, params } = isObject(request) ? request : {}
  if (typeof method !== 'string' || !isQuestionMethod(method)) {
    throw new RpcError(
      INVALID_REQUEST,
      `the server asks ${typeof method === 'string' ? method : 'something'}, which nothing here answers`
    )
  }
  return await new Promise((resolve, reject) => {
    questions.add(
      method,
      isObject(params) ? params : {},
      { answer: resolve, refuse: reason => reject(new Declined(reason)) },
      key
    )
  })
}

/** `interrupted` rejects when the call is cancelled or the connection ends; `stop` removes what listens for that. */
function interruptionOf (
  session: Session,
  signal: AbortSignal | undefined
): { interrupted: Promise<never>, stop: () => void } {
  let stop = (): void => {}
  const interrupted = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => reject(new Cancelled('cancelled'))
    const off = session.onClose(reject)
    signal?.addEventListener('abort', cancel)
    if (signal?.aborted === true) cancel()
    stop = () => {
      off()
      signal?.removeEventListener('abort', cancel)
    }
  })
  return { interrupted, stop }
}
