import { Cancelled, Declined, isObject, RpcError, type Client, type Handlers, type Json, type JsonObject, type ServerFacts } from './contract.js'
import { namesOf, withMeta } from './legacy.js'
import { listener } from './listen.js'
import { isQuestionMethod, OpenQuestions } from './open-questions.js'
import { REVISIONS } from './revisions.js'
import type { Session } from './session.js'

const META = 'io.modelcontextprotocol/'

const ANSWERS = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const EXPERIMENTAL = { experimental: { 'patchbay/questions': {} } }

/** A server that always asks again is stopped after this many rounds of one call. */
const MAX_ROUNDS = 50
const INVALID_REQUEST = -32600
/** How long the acknowledgement of a subscription is waited for, in milliseconds. */
const MAX_WAIT = 2_000

/** A client of the revision without a handshake: asks what the server is, and for changes of its lists. */
export async function connectModern (session: Session, clientInfo: JsonObject): Promise<Client> {
  const send: Send = async (method, params, handlers = {}, questions?: OpenQuestions) => await session.send(method, id => withMeta(params, metaOf(id, clientInfo, handlers)), handlers, questions)
  const discovered = await send('server/discover', {})
  const listenTo = listener(session, (id, handlers) => metaOf(id, clientInfo, handlers))
  const listening = listenTo({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }, () => {}).catch(() => {})
  // A server that says nothing to it can be used all the same.
  await Promise.race([listening, new Promise(resolve => { setTimeout(resolve, MAX_WAIT) })])
  return {
    era: 'modern',
    server: factsOf(discovered),
    request: async (method, params = {}, handlers = {}) => await inRounds(send, method, params, handlers),
    onNotification: listener => session.onNotification(listener),
    subscribe: async (uri, changed) => await listenTo({ resourceSubscriptions: [uri] }, changed)
  }
}

type Send = (method: string, params: JsonObject, handlers?: Handlers, questions?: OpenQuestions) => Promise<JsonObject>

function metaOf (id: number, clientInfo: JsonObject, { onProgress, onLog, onQuestion }: Handlers): JsonObject {
  return {
    [`${META}protocolVersion`]: REVISIONS.modern,
    [`${META}clientInfo`]: clientInfo,
    [`${META}clientCapabilities`]: { ...(onQuestion === undefined ? {} : ANSWERS), ...EXPERIMENTAL },
    ...(onLog === undefined ? {} : { [`${META}logLevel`]: 'debug' }),
    ...(onProgress === undefined ? {} : { progressToken: id })
  }
}

/** Sends a request again with the answers as long as the server asks for more. */
async function inRounds (send: Send, method: string, params: JsonObject, handlers: Handlers): Promise<JsonObject> {
  const questions = new OpenQuestions(handlers)
  let round: JsonObject = params
  for (let count = 0; count < MAX_ROUNDS; count++) {
    const result = await send(method, round, handlers, questions)
    if (result.resultType !== 'input_required') return result
    const inputResponses = await answersTo(result.inputRequests, questions, handlers)
    round = { ...params, inputResponses, ...(result.requestState === undefined ? {} : { requestState: result.requestState }) }
  }
  throw new RpcError(INVALID_REQUEST, `the server asked more than ${MAX_ROUNDS} times`)
}

/** Settles when every question is answered; a refusal or a cancellation ends the call. */
async function answersTo (requests: Json | undefined, questions: OpenQuestions, { signal, onQuestion }: Handlers): Promise<JsonObject> {
  if (onQuestion === undefined) throw new RpcError(INVALID_REQUEST, 'the server asks a question, which nothing here answers')
  const asked = Object.entries(isObject(requests) ? requests : {})
  try {
    const answers = await Promise.race([
      Promise.all(asked.map(async ([key, request]) => [key, await answerTo(key, request, questions)] as const)),
      aborted(signal)
    ])
    return Object.fromEntries(answers)
  } finally {
    questions.removeAll()
  }
}

async function answerTo (key: string, request: Json, questions: OpenQuestions): Promise<JsonObject> {
  const { method, params } = isObject(request) ? request : {}
  if (typeof method !== 'string' || !isQuestionMethod(method)) throw new RpcError(INVALID_REQUEST, `the server asks ${typeof method === 'string' ? method : 'something'}, which nothing here answers`)
  return await new Promise((resolve, reject) => {
    questions.add(method, isObject(params) ? params : {}, { answer: resolve, refuse: reason => reject(new Declined(reason)) }, key)
  })
}

const aborted = async (signal: AbortSignal | undefined): Promise<never> => await new Promise((_resolve, reject) => {
  if (signal?.aborted === true) reject(new Cancelled('cancelled'))
  signal?.addEventListener('abort', () => reject(new Cancelled('cancelled')), { once: true })
})

function factsOf ({ _meta, capabilities, instructions }: JsonObject): ServerFacts {
  const info = isObject(_meta) ? _meta[`${META}serverInfo`] : undefined
  return { ...namesOf(info), revision: REVISIONS.modern, capabilities: isObject(capabilities) ? capabilities : {}, ...(typeof instructions === 'string' ? { instructions } : {}) }
}
