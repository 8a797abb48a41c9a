import { isDeepStrictEqual } from 'node:util'
import { describeThrown, oneLine } from '../../lib/one-line.js'
import { now } from '../../lib/time.js'
import { SignInRequired } from '../../transports/client/credential.js'
import { BackOff, type BackOffOptions } from './back-off.js'

export interface FailureOptions {
  readonly alias: string
  readonly backOff: BackOffOptions
  /** True where a connection that broke is opened again before it is wanted. */
  readonly keep: boolean
  /** True where callers are asked to sign in, and not the operator. */
  readonly asksCallers?: boolean
  /** The last lines that the upstream wrote for people, for the log. */
  readonly lastLines?: () => readonly string[]
  readonly log: { warn (context: object, message: string): void }
}

/** The longest reason, in characters. */
const MAX_ERROR = 400

/** The failures of an upstream in a row: when it is tried again, and what operators are told. */
export class Failures {
  readonly #options: FailureOptions
  readonly #backOff: BackOff
  #areTooMany = false
  /** True when it failed because a person has to sign in. */
  needsSignIn = false
  /** True from a failure until `end`. */
  isFailing = false
  /** Until when callers do not make it try again, on the monotonic clock. */
  retryAt = 0
  /** When it is opened again by itself, in milliseconds since 1970. */
  nextTryAt: number | undefined
  /** Why it failed, and what to do. */
  lastError: string | undefined
  /** Why it failed, or why a person has to sign in. */
  reason = ''
  /** Lines that it wrote last for people before it failed. */
  lastLines: readonly string[] = []

  constructor (options: FailureOptions) {
    this.#options = options
    this.#backOff = new BackOff(options.backOff)
  }

  /** Records and logs a failure. Returns the milliseconds until the next try; undefined when there were too many. */
  add (error: unknown): number | undefined {
    const delay = this.#backOff.fail()
    this.isFailing = true
    const wasKnown = this.needsSignIn
    this.needsSignIn = error instanceof SignInRequired
    this.reason = describeError(error)
    this.lastError = this.needsSignIn
      ? `it needs a sign-in (${this.reason}); run patchbay login ${this.#options.alias}`
      : this.reason
    this.retryAt = now() + (delay ?? this.#options.backOff.first)
    this.nextTryAt = delay === undefined ? undefined : Math.round(Date.now() + delay)
    if (!this.needsSignIn) this.#log(delay)
    else if (!wasKnown) this.#askForSignIn()
    this.#areTooMany = delay === undefined
    return delay
  }

  /** The upstream is open again. */
  end (): void {
    this.#backOff.succeed()
    this.isFailing = this.needsSignIn = false
  }

  /** Makes it try again after too many failures. */
  reset (): void {
    this.#backOff.reset()
  }

  #askForSignIn (): void {
    const { alias, asksCallers, log } = this.#options
    if (asksCallers !== true) log.warn({ upstream: alias }, `upstream ${alias} needs a sign-in (${this.reason}): run patchbay login ${alias}`)
  }

  #log (delay: number | undefined): void {
    const { alias, keep, backOff: { maxFailures }, lastLines, log } = this.#options
    const former = this.lastLines
    const lines = this.lastLines = lastLines?.() ?? []
    const context = { upstream: alias, ...(lines.length > 0 && !isDeepStrictEqual(lines, former) && { lines }) }
    if (delay !== undefined) {
      const next = keep ? `next try in ${(delay / 1_000).toFixed(1)} s` : 'it is started again by the next call'
      log.warn(context, `upstream ${alias} failed: ${this.lastError}; ${next}`)
    } else if (!this.#areTooMany) {
      const until = 'is not started again until a call or a reload asks for it'
      log.warn(context, `upstream ${alias} failed ${maxFailures} times in a row and ${until}: ${this.lastError}`)
    }
  }
}

const describeError = (error: unknown): string =>
  error instanceof Error ? oneLine(error.message, MAX_ERROR) : describeThrown(error, MAX_ERROR)
