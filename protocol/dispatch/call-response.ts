import type { ByteBudget } from '../../lib/byte-budget.js'
import { Cancellation, createAbortController } from '../../lib/abort.js'
import { now } from '../../lib/time.js'
import type { InFlightCall } from '../peer/in-flight.js'
import type { Peer } from '../peer/peer.js'
import { respondOn, type Channel } from '../wire/channel.js'
import type { McpError } from '../wire/errors.js'
import { encodeError, type Id, type Request } from '../wire/jsonrpc.js'
import type { SharedTail } from '../wire/result.js'
import type { DeadlineEntry, Deadlines, TimedCall } from './deadlines.js'

/**
 * How a call ended: `failed` when the result itself reports a failure; with the code and message of the error, if it
 * was answered with one.
 */
export interface CallOutcome { outcome: 'ok' | 'failed' | 'error' | 'cancelled', code?: number, message?: string }

const OK: CallOutcome = Object.freeze({ outcome: 'ok' })
const FAILED: CallOutcome = Object.freeze({ outcome: 'failed' })

/** The call that is answered; `closed` is called once, with what became of it. */
export interface Answered { closed (outcome: CallOutcome): void }

/** The one response to a request. What is sent first, a result, an error or nothing, closes it and ends the work. */
export class CallResponse implements InFlightCall, TimedCall {
  readonly startedAt = now()
  readonly id: Id
  readonly method: string
  /** About how many bytes the request holds until it is answered. */
  readonly size: number
  readonly call: Answered
  readonly #peer: Peer
  #channel: Channel
  #deadline: DeadlineEntry | undefined
  #byteBudget: ByteBudget | undefined
  #controller: AbortController | undefined
  #cancellation: Cancellation | undefined
  #abortReason: Error | undefined
  #isOpen = true
  #finish: (() => void) | undefined
  #finished: Promise<void> | undefined
  #ms: number | undefined

  constructor (call: Answered, { id, method, size }: Request, peer: Peer, channel: Channel) {
    this.id = id
    this.method = method
    this.size = size
    this.call = call
    this.#peer = peer
    this.#channel = channel
  }

  /** True once the call is answered or given up. */
  get isClosed (): boolean {
    return !this.#isOpen
  }

  /** How long the call took, in milliseconds: the clock is read for the first observer of its end. */
  get ms (): number {
    return (this.#ms ??= now() - this.startedAt)
  }

  /** Undefined for a call that may last as long as its peer. */
  get deadline (): DeadlineEntry | undefined {
    return this.#deadline
  }

  /** Aborts when the call is given up. */
  get signal (): AbortSignal {
    this.#controller ??= createAbortController(this.#abortReason)
    return this.#controller.signal
  }

  /** The cancellation without an `AbortSignal`, for code that runs for every call. */
  get cancellation (): Cancellation {
    if (this.#cancellation === undefined) {
      this.#cancellation = new Cancellation()
      if (this.#abortReason !== undefined) this.#cancellation.cancel(this.#abortReason)
    }
    return this.#cancellation
  }

  /** Settles when the call is answered or given up. */
  get finished (): Promise<void> {
    return (this.#finished ??= this.#isOpen ? new Promise(resolve => { this.#finish = resolve }) : Promise.resolve())
  }

  /** Counts the call as in flight; without `deadlines` it may last as long as its peer. */
  start (byteBudget: ByteBudget, deadlines: Deadlines | undefined): void {
    this.#peer.addCall(this)
    byteBudget.add(this.size)
    this.#byteBudget = byteBudget
    this.#deadline = deadlines?.add(this)
  }

  /** Sends a result as JSON text, unless the call is closed; `failed` where the result reports a failure. */
  send (result: string | SharedTail, failed = false): void {
    if (this.#close(failed ? FAILED : OK)) respondOn(this.#channel, this.id, result)
  }

  /**
   * Sends a result as JSON text and lets the work go on: neither the client's connection nor its cancellation ends it
   * any more, and `channel` gets the response that it ends with.
   */
  divert (result: string, channel: Channel): void {
    const client = this.#channel
    this.#channel = channel
    this.#peer.removeCall(this)
    respondOn(client, this.id, result)
  }

  /** Sends an error, unless the call is closed. */
  fail (error: McpError, status: number): void {
    // Encoded before the call is closed: when `error.data` cannot be encoded, another error can still be sent.
    const text = encodeError(this.id, error)
    if (this.#close({ outcome: 'error', code: error.code, message: error.message })) {
      this.#channel.respond(text, status, error.headers)
    }
  }

  /** Gives up the call without a response. */
  cancel (reason: Error): void {
    if (!this.#close({ outcome: 'cancelled' })) return
    this.#abort(reason)
    this.#channel.end()
  }

  /** Sends an error now and aborts the handler. */
  giveUp (error: McpError): void {
    this.fail(error, 200)
    this.#abort(error)
  }

  #abort (reason: Error): void {
    this.#abortReason = reason
    this.#controller?.abort(reason)
    this.#cancellation?.cancel(reason)
  }

  #close (outcome: CallOutcome): boolean {
    if (!this.#isOpen) return false
    this.#isOpen = false
    this.#deadline?.stop()
    this.#peer.removeCall(this)
    this.#byteBudget?.remove(this.size)
    this.#finish?.()
    this.call.closed(outcome)
    return true
  }
}
