import { REINITIALIZED } from '../peer/conversation.js'
import type { Call } from '../dispatch/call.js'
import { errors } from '../wire/errors.js'
import { declares, InputRequired, type ClientRequest, type ClientRequestKind } from './client-request.js'
import { readRounds, writeRounds, type Rounds } from './request-state.js'
import type { Sealer } from './seal.js'

const NO_ROUNDS: Rounds = { answers: {}, once: {} }

/**
 * What one call asks its client. Where the revision knows requests to clients they are sent and awaited; where it does not,
 * the handler is ended with `InputRequired` and run again when the client comes back with the answers.
 */
export class ClientRequests {
  readonly #call: Call
  readonly #kinds: (method: string) => ClientRequestKind
  readonly #sealer: Sealer
  readonly #pending = new Map<string, ClientRequest>()
  readonly #once = new Map<string, Promise<unknown>>()
  readonly #given: Record<string, unknown>
  /** What the next round has to know: answers that were used, values of `once`. */
  readonly #rounds: Rounds

  /** Throws when the call brings a state or answers that are not good. */
  constructor (call: Call, kinds: (method: string) => ClientRequestKind, sealer: Sealer) {
    this.#call = call
    this.#kinds = kinds
    this.#sealer = sealer
    const { answers, once } = call.revision.stateless ? readRounds(sealer, call.method, call.params, call.principal) : NO_ROUNDS
    this.#given = answers
    this.#rounds = { answers: {}, once: { ...once } }
  }

  can (question: ClientRequest): boolean {
    return this.#obstacle(question) === undefined
  }

  /** The signal takes back what is still open. */
  async ask (questions: Record<string, ClientRequest>, signal: AbortSignal): Promise<Record<string, unknown>> {
    if (!this.#call.revision.mayRequestInput(this.#call.method)) throw new Error(`${this.#call.method} cannot ask the client`)
    for (const question of Object.values(questions)) this.#require(question)
    return this.#call.revision.stateless ? this.#replay(questions) : await this.#send(questions, signal)
  }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    const running = this.#once.get(key) ?? this.#first(key, fn)
    this.#once.set(key, running)
    return running as Promise<T>
  }

  /** The result that carries the open questions. */
  async inputRequired (): Promise<object> {
    // What is still running in `once` belongs into the state, or the next round would do it again.
    await Promise.allSettled(this.#once.values())
    const { method, params, principal, revision } = this.#call
    const inputRequests = Object.fromEntries([...this.#pending].map(([key, question]) => {
      const wire = this.#kinds(question.method).params(question.params, revision)
      return [key, { method: question.method, ...(wire === undefined ? {} : { params: wire }) }]
    }))
    return {
      resultType: 'input_required',
      inputRequests,
      requestState: writeRounds(this.#sealer, method, params, principal, this.#rounds)
    }
  }

  get pending (): boolean {
    return this.#pending.size > 0
  }

  /** Why the client cannot be asked, in words. */
  #obstacle ({ method, params }: ClientRequest): string | undefined {
    const { revision, channel, capabilities, conversation } = this.#call
    const kind = this.#kinds(method)
    if (!revision.stateless && !channel.streams) return 'this request has no stream on which it could be asked'
    // Another user may be there by now, who did not make this call.
    if (!revision.stateless && conversation.replaced) return REINITIALIZED
    if (!kind.known(params, revision)) return `its protocol revision ${revision.version} has no such question`
    const needed = kind.needs(params)
    return declares(capabilities, needed) ? undefined : `it did not declare the capability ${JSON.stringify(needed)}`
  }

  #require (question: ClientRequest): void {
    const obstacle = this.#obstacle(question)
    if (obstacle === undefined) return
    const { method, params } = question
    throw this.#call.revision.stateless ? errors.missingCapability(this.#kinds(method).needs(params)) : errors.cannotAsk(method, obstacle)
  }

  async #send (questions: Record<string, ClientRequest>, signal: AbortSignal): Promise<Record<string, unknown>> {
    const { peer, channel, revision } = this.#call
    const answers = await Promise.all(Object.entries(questions).map(async ([key, { method, params }]) => {
      const kind = this.#kinds(method)
      const answer = await peer.ask(method, kind.params(params, revision), channel, signal)
      return [key, kind.answer(answer, params, revision)] as const
    }))
    return Object.fromEntries(answers)
  }

  #replay (questions: Record<string, ClientRequest>): Record<string, unknown> {
    const answers: Record<string, unknown> = {}
    for (const [key, { method, params }] of Object.entries(questions)) {
      if (!Object.hasOwn(this.#given, key)) {
        this.#pending.set(key, { method, params })
      } else {
        answers[key] = this.#kinds(method).answer(this.#given[key], params, this.#call.revision)
        this.#rounds.answers[key] = this.#given[key]
      }
    }
    if (Object.keys(questions).some(key => this.#pending.has(key))) throw new InputRequired('the client has to be asked first')
    return answers
  }

  async #first<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    const { once } = this.#rounds
    if (Object.hasOwn(once, key)) return once[key] as T
    const value = await fn()
    once[key] = value ?? null
    return value
  }
}

/** A handler that asks twice and awaits the first may never look at the second; that is not a mistake of its own. */
export function ignoreRejection<T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
