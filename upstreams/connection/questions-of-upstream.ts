import type { Channel } from '../../protocol/wire/channel.js'
import { errors } from '../../protocol/wire/errors.js'
import type { Id, Request } from '../../protocol/wire/jsonrpc.js'
import type { ServerEntry } from '../server-entry.js'
import type { CallsInFlight } from './calls-in-flight.js'

type Permissions = Pick<ServerEntry, 'roots' | 'elicitation' | 'sampling'>

const HINT = 'with "isolate" in its entry, callers do not share a connection'

/**
 * Answers the requests of one upstream: some itself, others by asking the client on whose behalf the upstream works.
 */
export class QuestionsOfUpstream {
  readonly #permissions: Permissions
  readonly #max: number
  readonly #open = new Map<Id, AbortController>()

  /** At most `max` are open at a time. */
  constructor (permissions: Permissions, max: number) {
    this.#permissions = permissions
    this.#max = max
  }

  /** Undefined when the upstream does not wait for the answer any more. */
  async answer (request: Request, calls: CallsInFlight, on: Channel | undefined): Promise<object | undefined> {
    const { method } = request
    const { roots } = this.#permissions
    if (method === 'ping') return {}
    if (method === 'roots/list' && roots !== undefined) return { roots: roots.map(uri => ({ uri })) }
    if (!this.#mayAsk(method)) throw errors.methodNotFound(method)
    return await this.#ask(request, calls, on)
  }

  /** The upstream does not want the answer any more. False when there is no such question. */
  cancel (id: Id): boolean {
    const question = this.#open.get(id)
    question?.abort(new Error('the upstream server took the question back'))
    return question !== undefined
  }

  cancelAll (reason: Error): void {
    for (const question of this.#open.values()) question.abort(reason)
  }

  #mayAsk (method: string): boolean {
    if (method === 'elicitation/create') return this.#permissions.elicitation
    return method === 'sampling/createMessage' && this.#permissions.sampling
  }

  async #ask (
    { id, method, params }: Request,
    calls: CallsInFlight,
    on: Channel | undefined
  ): Promise<object | undefined> {
    if (this.#open.has(id)) throw errors.invalidRequest(`the id ${JSON.stringify(id)} is in use`)
    if (this.#open.size >= this.#max) {
      throw errors.cannotAttribute(method, `${this.#max} questions are open already (limit maxUpstreamQuestions)`)
    }
    const call = calls.findAsked(method, params, on)
    if (call === undefined) throw errors.cannotAttribute(method, 'no call is in flight to which it could belong')
    if (call === 'ambiguous') {
      throw errors.cannotAttribute(
        method,
        `calls of several clients are in flight, and it could belong to each of them; ${HINT}`
      )
    }
    if (call === 'away') {
      throw errors.cannotAttribute(
        method,
        `several calls in flight wait for answers of a client that has not come back, and it could belong to each of them; ${HINT}`
      )
    }
    const controller = new AbortController()
    this.#open.set(id, controller)
    try {
      return await call.ask(method, params, controller.signal)
    } catch (error) {
      if (controller.signal.aborted) return undefined
      throw error
    } finally {
      this.#open.delete(id)
    }
  }
}
