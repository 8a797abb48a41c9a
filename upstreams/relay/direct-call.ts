import type { Call } from '../../protocol/dispatch/call.js'
import { errors } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Connection, RelayedCall } from '../ports.js'
import { callerOf, clientOf } from './client-of.js'
import { expectCompletion } from './questions/completed-elicitations.js'
import { forwardLog, forwardProgress } from './forward-notifications.js'
import { faultOf, isRelayedQuestion, toClientParams, toUpstreamAnswer, type Question } from './questions/question.js'
import { withoutReservedMeta } from './relayed-params.js'

/**
 * A client's call that lasts as long as the request to the upstream: what the upstream sends meanwhile goes straight to
 * the client.
 */
export class DirectCall implements RelayedCall {
  readonly isWaiting = true
  readonly #call: Call
  readonly #connection: Connection

  constructor (call: Call, connection: Connection) {
    this.#call = call
    this.#connection = connection
  }

  get principal (): string | undefined {
    return this.#call.principal
  }

  get caller (): string {
    return callerOf(this.#call)
  }

  get client (): object | string {
    return clientOf(this.#call)
  }

  progress (params: Params): void {
    forwardProgress(this.#call, params)
  }

  log (params: Params): void {
    forwardLog(this.#call, params)
  }

  canAsk (method: string, params: Params): boolean {
    return isRelayedQuestion(method) && !this.#call.revision.stateless && this.#call.can(method, params)
  }

  async ask (method: string, params: Params, signal: AbortSignal): Promise<object> {
    if (!isRelayedQuestion(method)) throw errors.methodNotFound(method)
    if (this.#call.revision.stateless) {
      throw errors.cannotAsk(method, 'its protocol revision has no requests to clients')
    }
    const question = { method, params: withoutReservedMeta(params) }
    if (typeof params.elicitationId === 'string') expectCompletion(this.#connection, params.elicitationId, this.#call)
    return await askClient(this.#call, question, signal)
  }
}

/**
 * Sends a question to a client of a revision with requests to clients; settles with its answer. The clock of the call
 * stops meanwhile.
 */
export async function askClient (call: Call, question: Question, signal: AbortSignal): Promise<object> {
  const { revision: { features }, response: { deadline } } = call
  deadline?.hold()
  try {
    const answer = await call.clientRequests.forward(question, toClientParams(question, features), signal)
    if (!isObject(answer)) throw errors.badAnswer(question.method, faultOf(question, answer) ?? 'must be an object')
    return toUpstreamAnswer(question, answer, features)
  } finally {
    deadline?.release()
  }
}
