import { createAbortController, onAbort } from '../../lib/abort.js'
import { now } from '../../lib/time.js'
import { REINITIALIZED } from '../peer/conversation.js'
import { errors } from '../wire/errors.js'
import { sendFor, type Asker } from './asker.js'
import { declares, InputRequired, type ClientRequest, type ClientRequestKinds } from './client-request.js'
import { DeferredQuestions, type QuestionObserver } from './deferred-questions.js'
import { readRounds, STATE_LIFETIME, writeRounds, type Rounds } from './request-state.js'
import type { Sealer } from './seal.js'
import { standInFor, type StandIn } from './stand-in.js'

interface Asked { readonly key: string, readonly request: ClientRequest, readonly standIn: StandIn | undefined }

const ANSWERED = 'its request took long and was answered before it ended'

const NO_ROUNDS: Rounds = { answers: {}, once: {} }

/**
 * The questions of one call to its client. Where the revision knows requests to clients they are sent and awaited;
 * where it does not, the handler is ended with `InputRequired` and run again when the client comes back with the
 * answers.
 */
export class ClientRequests {
  readonly #call: Asker
  readonly #kinds: ClientRequestKinds
  readonly #sealer: Sealer
  readonly #observer: QuestionObserver
  readonly #pending = new Map<string, ClientRequest>()
  #controller: AbortController | undefined
  #hasAsked: boolean
  #lifetime: number | undefined
  readonly #once = new Map<string, Promise<unknown>>()
  readonly #given: Record<string, unknown>
  /** The keys of the answers that questions of the gateway itself have taken. */
  readonly taken = new Set<string>()
  /** The value that an earlier round of the same request put into its state with `carry`. */
  readonly carried: unknown
  readonly deferred: DeferredQuestions
  /** The methods of the questions that the client has been sent and has not answered yet, oldest first. */
  readonly #asked: string[] = []
  /** State for the next round: answers that were used, in a task all of them, and values of `once`. */
  readonly #rounds: Rounds

  /** Throws when the call brings a state or answers that are not good. */
  constructor (call: Asker, kinds: ClientRequestKinds, sealer: Sealer, observer: QuestionObserver) {
    this.#call = call
    this.#kinds = kinds
    this.#sealer = sealer
    this.#observer = observer
    this.deferred = new DeferredQuestions(call.trace, observer)
    const { answers, once, carried } = call.revision.stateless ? readRounds(sealer, call) : NO_ROUNDS
    this.#given = answers
    this.#hasAsked = call.revision.stateless && ('requestState' in call.params || 'inputResponses' in call.params)
    this.carried = carried
    // A round of a task may end before its handler runs: what was answered is not asked again.
    this.#rounds = { answers: call.task?.runs === true ? { ...answers } : {}, once: { ...once } }
  }

  /** True where the client can answer, or an operator in its place. */
  can (request: ClientRequest): boolean {
    return this.reaches(request) || standInFor(this.#call.ruled, request) !== undefined
  }

  /** True where the client itself can answer. */
  reaches (request: ClientRequest): boolean {
    return this.#obstacle(request) === undefined
  }

  /** Settles with all answers, by key. */
  async ask (requests: Record<string, ClientRequest>): Promise<Record<string, unknown>> {
    if (!this.#call.revision.mayRequestInput(this.#call.method)) {
      throw new Error(`${this.#call.method} cannot ask the client`)
    }
    const all = Object.entries(requests).map(([key, request]) => ({ key, request, standIn: this.#standInFor(request) }))
    const own = all.filter(({ standIn }) => standIn === undefined)
    for (const { request } of own) this.#require(request)
    if (own.length < all.length) return await this.#askBoth(all)
    this.#hasAsked = true
    return this.#call.revision.stateless ? this.#replay(requests) : await this.#send(requests)
  }

  /**
   * Sends one request of an upstream server and settles with the answer; both are passed on as they are, and so is the
   * client's error. The signal takes it back, as does the end of the call.
   */
  async forward (request: ClientRequest, wire: object | undefined, signal: AbortSignal): Promise<unknown> {
    const standIn = this.#standInFor(request)
    if (standIn === undefined) {
      this.#require(request)
      this.#hasAsked = true
    }
    const own = createAbortController()
    const ends = [signal, (this.#controller ??= createAbortController()).signal]
    const offs = ends.map(end => onAbort(end, () => own.abort(end.reason)))
    if (signal.aborted) own.abort(signal.reason)
    try {
      if (standIn !== undefined) return await standIn(request, own.signal)
      const answer = sendFor(this.#call, request.method, wire, { signal: own.signal })
      return await this.#await(request.method, own.signal, answer)
    } finally {
      for (const off of offs) off()
    }
  }

  /** A state of this request that brings `carried` back with the next round, within `lifetime` milliseconds. */
  carry (carried: unknown, lifetime?: number): string {
    return writeRounds(this.#sealer, this.#call, { ...this.#rounds, carried }, lifetime)
  }

  /** Takes back the requests that the client has not answered yet. */
  cancel (): void {
    this.#controller?.abort(new Error('the call is over'))
  }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T> {
    const running = this.#once.get(key) ?? this.#first(key, fn)
    this.#once.set(key, running)
    return running as Promise<T>
  }

  /** Has the state of this round accepted for so many milliseconds, where that is longer than usual. */
  extendState (lifetime: number): void {
    this.#lifetime = Math.max(this.#lifetime ?? STATE_LIFETIME, lifetime)
  }

  /** The result that carries the open questions. */
  async inputRequired (): Promise<object> {
    // Work still running in `once` belongs into the state, or the next round would do it again.
    await Promise.allSettled(this.#once.values())
    const { revision, task } = this.#call
    const inputRequests = Object.fromEntries([...this.#pending].map(([key, request]) => {
      const wire = this.deferred.add(request.method, this.#kinds.get(request.method).params(request.params, revision))
      return [key, { method: request.method, ...(wire === undefined ? {} : { params: wire }) }]
    }))
    return {
      resultType: 'input_required',
      inputRequests,
      requestState: writeRounds(this.#sealer, this.#call, this.#rounds, task?.lifetime ?? this.#lifetime)
    }
  }

  /** True once a question was asked, in this round or an earlier one. */
  get hasAsked (): boolean {
    return this.#hasAsked
  }

  get pending (): boolean {
    return this.#pending.size > 0
  }

  /** The method of the oldest question that the client has been sent and has not answered yet. */
  get awaited (): string | undefined {
    return this.#asked[0]
  }

  /** Why the client cannot be asked, in words. */
  #obstacle ({ method, params }: ClientRequest): string | undefined {
    const { revision, channel, capabilities, conversation } = this.#call
    const kind = this.#kinds.get(method)
    if (channel.isAnswered === true) return ANSWERED
    if (!revision.stateless && !channel.streams) return 'this request has no stream on which it could be asked'
    // Another user may be there by now, who did not make this call.
    if (!revision.stateless && conversation.replaced) return REINITIALIZED
    if (!kind.known(params, revision)) return `its protocol revision ${revision.version} has no such question`
    const needed = kind.needs(params)
    return declares(capabilities, needed) ? undefined : `it did not declare the capability ${JSON.stringify(needed)}`
  }

  /** The operator who answers in place of a client that cannot be asked; undefined where the client is asked. */
  #standInFor (request: ClientRequest): StandIn | undefined {
    return this.reaches(request) ? undefined : standInFor(this.#call.ruled, request)
  }

  /** Asks an operator first, and then the client what it can be asked. */
  async #askBoth (all: readonly Asked[]): Promise<Record<string, unknown>> {
    const { revision } = this.#call
    const own = all.flatMap(({ key, request, standIn }) => standIn === undefined ? [[key, request] as const] : [])
    const { signal } = this.#controller ??= createAbortController()
    const answers = await Promise.all(all.map(async ({ key, request, standIn }) => {
      if (standIn === undefined) return []
      const ask = async (): Promise<unknown> => await standIn(request, signal)
      // Kept in the sealed state alone, so that no client brings an answer of its own.
      const answer = revision.stateless ? await this.once(`patchbay/answer ${key}`, ask) : await ask()
      return [[key, this.#kinds.get(request.method).answer(answer, request.params, revision)] as const]
    }))
    const more = own.length === 0 ? {} : await this.ask(Object.fromEntries(own))
    return { ...Object.fromEntries(answers.flat()), ...more }
  }

  #require (request: ClientRequest): void {
    const obstacle = this.#obstacle(request)
    if (obstacle === undefined) return
    const { method, params } = request
    throw this.#call.revision.stateless && obstacle !== ANSWERED
      ? errors.missingCapability(this.#kinds.get(method).needs(params))
      : errors.cannotAsk(method, obstacle)
  }

  async #send (requests: Record<string, ClientRequest>): Promise<Record<string, unknown>> {
    const { revision } = this.#call
    const { signal } = this.#controller ??= createAbortController()
    const answers = await Promise.all(Object.entries(requests).map(async ([key, { method, params }]) => {
      const kind = this.#kinds.get(method)
      const wire = kind.params(params, revision)
      const answer = sendFor(this.#call, method, wire, { signal, toError: error => errors.clientFailed(method, error) })
      return [key, kind.answer(await this.#await(method, signal, answer), params, revision)] as const
    }))
    return Object.fromEntries(answers)
  }

  async #await (method: string, signal: AbortSignal, answer: Promise<unknown>): Promise<unknown> {
    this.#asked.push(method)
    const askedAt = now()
    let outcome: 'answered' | 'error' | 'cancelled' = 'error'
    try {
      const given = await answer
      outcome = 'answered'
      return given
    } finally {
      this.#asked.splice(this.#asked.indexOf(method), 1)
      if (outcome === 'error' && (signal.aborted || this.#call.peer.closed)) outcome = 'cancelled'
      this.#observer.notify({ method, outcome, ms: now() - askedAt })
    }
  }

  #replay (requests: Record<string, ClientRequest>): Record<string, unknown> {
    const answers: Record<string, unknown> = {}
    for (const [key, { method, params }] of Object.entries(requests)) {
      if (!Object.hasOwn(this.#given, key)) {
        this.#pending.set(key, { method, params })
      } else {
        answers[key] = this.#kinds.get(method).answer(this.#given[key], params, this.#call.revision)
        this.#rounds.answers[key] = this.#given[key]
        this.taken.add(key)
      }
    }
    if (Object.keys(requests).some(key => this.#pending.has(key))) {
      throw new InputRequired('the client has to be asked first')
    }
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
