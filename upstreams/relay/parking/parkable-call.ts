import { Cancellation } from '../../../lib/abort.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Revision } from '../../../protocol/revisions/revision.js'
import type { DeferredQuestions } from '../../../protocol/questions/deferred-questions.js'
import { standInFor, type Answering } from '../../../protocol/questions/stand-in.js'
import { binding } from '../../../protocol/questions/request-state.js'
import { errors, isMcpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Connection, RelayedCall, UpstreamRequest } from '../../ports.js'
import { callerOf, clientOf } from '../client-of.js'
import { OpenQuestions } from './open-questions.js'
import type { ParkedCall, ParkedCalls } from './parked-calls.js'
import { capabilityFor, isAnswerable, isRelayedQuestion, toClientParams, type Question } from '../questions/question.js'
import { withoutReservedMeta } from '../relayed-params.js'
import { requestTraced } from '../request-traced.js'
import { ClientRound, toResult, type Round, type RoundOutcome } from './round.js'

type Result = Record<string, unknown>
type Outcome = { readonly result: Result } | { readonly error: unknown }

/**
 * One request to an upstream with a handshake for a client without one. When the upstream asks, the client's request is
 * answered with the questions and the upstream's call is parked; the client's next request brings the answers and is
 * served by the same call.
 */
export class ParkableCall implements RelayedCall, ParkedCall {
  readonly upstream: string
  readonly principal: string | undefined
  readonly caller: string
  readonly #parked: ParkedCalls
  readonly #questions = new OpenQuestions()
  readonly #cancellation = new Cancellation()
  readonly #revision: Revision
  /** Of the call that the request to the upstream belongs to. */
  readonly #deferred: DeferredQuestions
  /** Has an operator answer where the client cannot be asked. */
  readonly #ruled: Answering | undefined
  /** False where the client's request may not be answered with questions. */
  readonly #mayAsk: boolean
  /** The client's request that waits now; undefined while the call is parked. */
  #round: Round | undefined
  /** The hash of the client's request, once it was answered with questions. */
  #bound: string | undefined
  #client: object | string
  #capabilities: Record<string, unknown>
  #outcome: Outcome | undefined
  /** True when the client will not come back. */
  #ended = false
  /** The capability that the client would have had to declare for a question that was refused. */
  #missing: Record<string, object> | undefined
  /** The latest progress that came while the call was parked. */
  #progress: Params | undefined
  #progressBytes = 0
  #wake: (() => void) | undefined

  constructor (call: Call, upstream: string, parked: ParkedCalls) {
    this.upstream = upstream
    this.#ruled = call.ruled
    this.principal = call.principal
    this.caller = callerOf(call)
    this.#revision = call.revision
    this.#deferred = call.clientRequests.deferred
    this.#mayAsk = call.revision.mayRequestInput(call.method)
    this.#capabilities = call.capabilities
    this.#client = clientOf(call)
    this.#parked = parked
  }

  get client (): object | string {
    return this.#client
  }

  get isWaiting (): boolean {
    return this.#round !== undefined
  }

  progress (params: Params): void {
    if (this.#round === undefined) this.#keepProgress(params)
    else this.#round.progress(params)
  }

  log (params: Params): void {
    this.#round?.log(params)
  }

  canAsk (method: string, params: Params): boolean {
    return this.#reaches({ method, params }) || standInFor(this.#ruled, { method, params }) !== undefined
  }

  async ask (method: string, params: Params, signal: AbortSignal): Promise<object> {
    if (!isRelayedQuestion(method)) throw errors.methodNotFound(method)
    const question = { method, params: withoutReservedMeta(params) }
    const standIn = this.#reaches(question) ? undefined : standInFor(this.#ruled, question)
    if (standIn !== undefined) return await standIn(question, signal)
    this.#require(question)
    // A question that comes before the cancellation is written would be counted for ever.
    if (this.#ended || this.#outcome !== undefined) throw errors.cannotAsk(method, 'the call is over')
    if (this.#round?.isAnswered === true) throw errors.cannotAsk(method, 'its request was answered before it ended')
    const refusal = this.#parked.add(this)
    if (refusal !== undefined) throw refusal
    const bytes = sizeOf(params)
    if (!this.#keep(bytes)) throw errors.tooManyParkedBytes(this.#parked.limits.maxParkedBytes)
    const answer = this.#questions.ask({ method, params: this.#deferred.add(method, question.params) }, bytes, signal)
    this.#wakeAfterTurn()
    return await answer
  }

  /** Sends the request, and serves the client's call. */
  async start (call: Call, connection: Connection, request: UpstreamRequest): Promise<Result> {
    requestTraced(call, connection, { ...request, cancellation: this.#cancellation, call: this })
      .then(result => this.#finish({ result }), (error: unknown) => this.#finish({ error }))
    const outcome = await this.#serve(new ClientRound(call))
    if ('questions' in outcome) this.#bound = binding(call)
    return toResult(outcome, call, this.upstream, this.#parked.limits.parkedCallLifetime)
  }

  /** True for the next round of the same request of the same caller. */
  isOf (principal: string | undefined, bound: string): boolean {
    return principal === this.principal && bound === this.#bound
  }

  /** Throws when an answer is malformed; the call stays parked then. */
  check (answers: unknown): void {
    if (isObject(answers)) this.#questions.check(answers)
  }

  /** Goes on with the answers of the client's next request. */
  async resume (round: Round, answers: unknown): Promise<RoundOutcome> {
    this.#client = round.client ?? this.#client
    this.#capabilities = round.capabilities
    if (isObject(answers)) this.#questions.answer(answers)
    return await this.#serve(round)
  }

  end (reason: string): void {
    this.#ended = true
    this.#questions.giveUp(reason)
    // After the answers to its questions, which are written when their promises have settled.
    setImmediate(() => this.#cancellation.cancel(new Error(reason)))
  }

  /** Waits until the upstream has answered or asks, and returns what the client gets. */
  async #serve (round: Round): Promise<RoundOutcome> {
    this.#round = round
    const off = round.cancellation.on(reason => this.#cancellation.cancel(reason))
    if (this.#progress !== undefined) round.progress(this.#progress)
    this.#forgetProgress()
    this.#keep(0)
    try {
      while (this.#outcome === undefined && this.#questions.size === 0) {
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
      }
    } finally {
      off()
      this.#round = undefined
    }
    if (this.#outcome === undefined) return this.#park()
    this.#parked.remove(this)
    return { result: this.#settle(this.#outcome) }
  }

  /** The open questions; the call waits for their answers from now on. */
  #park (): RoundOutcome {
    const questions = Object.fromEntries(this.#questions.entries().map(([key, question]) =>
      [key, { method: question.method, params: toClientParams(question, this.#revision.features) }]))
    const { nonce, forwarded } = this.#parked
    return { questions, parked: { parkedId: this.#parked.park(this), nonce, node: forwarded?.self } }
  }

  #settle (outcome: Outcome): Result {
    const failed = 'error' in outcome ? isMcpError(outcome.error) : outcome.result.isError === true
    if (failed && this.#missing !== undefined) throw errors.missingCapability(this.#missing)
    if ('error' in outcome) throw outcome.error
    // A revision with a handshake gives this member no meaning.
    const { resultType, ...result } = outcome.result
    return result
  }

  #finish (outcome: Outcome): void {
    this.#questions.giveUp('the call is over')
    this.#forgetProgress()
    this.#outcome =
      this.#round !== undefined || this.#keep(sizeOfOutcome(outcome))
        ? outcome
        : { error: errors.upstreamFailed(this.upstream, TOO_LARGE) }
    this.#wake?.()
  }

  /** Counts so many bytes as kept for this call, besides open questions and progress; false when that is too much. */
  #keep (bytes: number): boolean {
    return this.#parked.keep(this, this.#questions.bytes + this.#progressBytes + bytes)
  }

  /** Progress that is too long to be kept is dropped, and so is what came before it. */
  #keepProgress (params: Params): void {
    this.#forgetProgress()
    const bytes = sizeOf(params)
    if (this.#keep(bytes)) [this.#progress, this.#progressBytes] = [params, bytes]
  }

  #forgetProgress (): void {
    this.#progress = undefined
    this.#progressBytes = 0
  }

  // An upstream that asks several questions at once writes them one after the other.
  #wakeAfterTurn (): void {
    setImmediate(() => this.#wake?.())
  }

  #reaches (question: Question): boolean {
    return this.#mayAsk && this.#round?.isAnswered !== true &&
      isAnswerable(question, this.#capabilities, this.#revision)
  }

  #require (question: Question): void {
    if (!this.#mayAsk) throw errors.cannotAsk(question.method, 'its request cannot be answered with a question')
    if (isAnswerable(question, this.#capabilities, this.#revision)) return
    this.#missing = capabilityFor(question)
    throw errors.cannotAsk(question.method, `it did not declare the capability ${JSON.stringify(this.#missing)}`)
  }
}

const TOO_LARGE =
  'its result came while the call waited for the client, and was too large to be kept (limit maxParkedBytes)'

const sizeOf = (value: object): number => Buffer.byteLength(JSON.stringify(value))

function sizeOfOutcome (outcome: Outcome): number {
  if ('result' in outcome) return sizeOf(outcome.result)
  return isMcpError(outcome.error) ? sizeOf({ message: outcome.error.message, data: outcome.error.data }) : 0
}
