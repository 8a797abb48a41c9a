import type { Semaphore } from '../../lib/semaphore.js'
import { now } from '../../lib/time.js'
import { unlessAborted } from '../../lib/abort.js'
import type { UpstreamState } from '../ports.js'
import { Failures, type FailureOptions } from './failures.js'
import { openInTime, runLimited } from './open-in-time.js'

/** A connection as far as it is supervised. */
export interface Supervised {
  readonly closed: boolean
  onClose (listener: (why: Error) => void): () => void
  /** Never rejects. */
  close (): Promise<void>
}

export interface SupervisorLog {
  info (context: object, message: string): void
  warn (context: object, message: string): void
}

export interface SupervisorOptions<C extends Supervised> extends FailureOptions {
  connect: (signal: AbortSignal) => Promise<C>
  /** Runs for each new connection, before those that wait for it. */
  onReady?: (connection: C) => void
  onChange?: () => void
  /** Lets some upstreams start at a time, the same for all of them. */
  starts: Semaphore
  /** How long a start may take, in milliseconds. */
  startTimeout: number
  /** After how many milliseconds without use the connection is closed; never when absent. */
  idle: number | undefined
  /** True while a connection is in use; it is not closed then. */
  isBusy?: (connection: C) => boolean
  /** Makes the error for callers; `reason` is why it failed, for those who may know it. */
  refuse: (why: string, retryAfter?: number, reason?: string) => Error
  /** Makes the error for callers while a person has to sign in. */
  refuseUnsigned: (why: string) => Error
  log: SupervisorLog
}

/** Only local callers and operators see the reason: it may name programs, folders and addresses. */
const FAILED = 'it could not be started, or has ended; the reason is in the log and in /health'

/**
 * Keeps one connection to an upstream open: opens it when it is wanted, again when it broke, and closes it when it is
 * not used.
 */
export class Supervisor<C extends Supervised> {
  readonly #options: SupervisorOptions<C>
  readonly #failures: Failures
  #state: UpstreamState = 'stopped'
  #since = Date.now()
  #connection: C | undefined
  #opening: Promise<C> | undefined
  #closing: Promise<void> | undefined
  #ending = new AbortController()
  #hurry = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #usedAt = 0
  #tries = 0
  /** How many callers wait for the start that is under way. */
  #waiting = 0

  constructor (options: SupervisorOptions<C>) {
    this.#options = options
    this.#failures = new Failures(options)
  }

  get state (): UpstreamState {
    return this.#state
  }

  /** When the state changed last, in milliseconds since 1970. */
  get since (): number {
    return this.#since
  }

  /** True from a failure until it is open again. */
  get isFailing (): boolean {
    return this.#failures.isFailing
  }

  /** How often it was tried to open it again. */
  get restarts (): number {
    return Math.max(0, this.#tries - 1)
  }

  /** Why it failed, for operators. */
  get lastError (): string | undefined {
    return this.#failures.lastError
  }

  /** Lines that it wrote last for people before it failed. */
  get lastLines (): readonly string[] {
    return this.#failures.lastLines
  }

  /** When it is opened again by itself, in milliseconds since 1970; of use while it is backing off. */
  get nextTryAt (): number | undefined {
    return this.#failures.nextTryAt
  }

  /** The open connection, if there is one. */
  get connection (): C | undefined {
    return this.#connection
  }

  /** The open connection, if there is one; counts as use of it. */
  use (): C | undefined {
    this.#usedAt = now()
    return this.#connection
  }

  /**
   * The connection, when it is open. Rejects with what `refuse` makes if it cannot be had now; the signal ends the
   * wait, not the start.
   */
  async get (signal?: AbortSignal): Promise<C> {
    const open = this.use()
    if (open !== undefined) return open
    const { refuse } = this.#options
    if (this.#state === 'closed') throw refuse('it was removed')
    const left = this.#failures.retryAt - this.#usedAt
    if (this.#opening === undefined && left > 0) throw this.#refusal(Math.ceil(left / 1_000))
    const opening = this.#opening ?? this.#open()
    // A start that a caller waits for does not wait for those of other upstreams.
    this.#hurry.abort()
    this.#waiting++
    try {
      return await unlessAborted(opening, signal)
    } finally {
      this.#waiting--
    }
  }

  /** Settles when no caller waits for a start any more; never rejects. */
  async waitForStart (): Promise<void> {
    if (this.#waiting > 0) await this.#opening?.catch(() => {})
  }

  /**
   * Opens the connection in the background, also after too many failures, and with `atOnce` also before its next try.
   */
  start (atOnce = false): void {
    const isIdle = ['stopped', 'crash loop', 'needs sign-in'].includes(this.#state)
    if (!isIdle && !(atOnce && this.#state === 'backing off')) return
    this.#failures.reset()
    this.#open().catch(() => {})
  }

  /** Settles when nothing of it is left; never rejects. */
  async close (): Promise<void> {
    this.#change('closed')
    clearTimeout(this.#timer)
    this.#ending.abort(new Error('the upstream was removed'))
    this.#hurry.abort()
    const connection = this.#connection
    this.#connection = undefined
    await Promise.all([connection?.close(), this.#opening?.catch(() => {}), this.#closing])
  }

  #open (): Promise<C> {
    clearTimeout(this.#timer)
    this.#tries++
    this.#hurry = new AbortController()
    this.#change('starting')
    this.#opening = this.#connect()
    return this.#opening
  }

  async #connect (): Promise<C> {
    const { connect, starts, startTimeout } = this.#options
    try {
      // The last connection may still hold files or ports that the next one needs.
      await this.#closing
      const open = async (): Promise<C> => await openInTime(connect, startTimeout, this.#ending.signal)
      const connection = await runLimited(starts, this.#hurry.signal, open)
      if (this.#state === 'closed') await connection.close().then(() => { throw new Error('it was removed') })
      this.#opening = undefined
      this.#accept(connection)
      return connection
    } catch (error) {
      this.#opening = undefined
      this.#fail(error)
      throw this.#refusal()
    }
  }

  #refusal (retryAfter?: number): Error {
    const { refuse, refuseUnsigned } = this.#options
    return this.#failures.needsSignIn
      ? refuseUnsigned(this.#failures.reason)
      : refuse(FAILED, retryAfter, this.lastError)
  }

  #accept (connection: C): void {
    if (connection.closed) throw new Error('it ended at once')
    this.#connection = connection
    this.#failures.end()
    connection.onClose(why => this.#lose(connection, why))
    this.#usedAt = now()
    this.#watchIdle()
    this.#change('ready')
    this.#options.onReady?.(connection)
  }

  #lose (connection: C, why: Error): void {
    if (this.#connection !== connection) return
    this.#connection = undefined
    this.#closing = connection.close()
    this.#fail(why)
  }

  #fail (error: unknown): void {
    if (this.#state === 'closed') return
    const { keep } = this.#options
    const delay = this.#failures.add(error)
    clearTimeout(this.#timer)
    // A sign-in is heard of; a server that is asked without one until then would only refuse.
    if (this.#failures.needsSignIn) return this.#change('needs sign-in')
    if (delay !== undefined && keep) this.#timer = setTimeout(() => { this.#open().catch(() => {}) }, delay).unref()
    this.#change(delay === undefined ? 'crash loop' : keep ? 'backing off' : 'stopped')
  }

  #watchIdle (): void {
    const { idle, isBusy, alias, log } = this.#options
    if (idle === undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const connection = this.#connection
      if (connection === undefined) return
      if (now() - this.#usedAt < idle || isBusy?.(connection) === true) return this.#watchIdle()
      this.#connection = undefined
      this.#closing = connection.close()
      this.#change('stopped')
      log.info({ upstream: alias }, `upstream ${alias} was stopped, because it was not used for ${idle} ms`)
    }, idle).unref()
  }

  #change (state: UpstreamState): void {
    if (this.#state === 'closed' || this.#state === state) return
    this.#state = state
    this.#since = Date.now()
    this.#options.onChange?.()
  }
}
