import type { Limits } from './limits.js'

/** When a call is given up: some time after its last sign of life, and after the hard limit in any case. */
export class Deadline {
  readonly #limits: Limits
  readonly #expire: (elapsedMs: number) => void
  // A clock that nobody can set.
  readonly #startedAt = performance.now()
  #timer: NodeJS.Timeout | undefined
  #held = 0

  constructor (limits: Limits, expire: (elapsedMs: number) => void) {
    this.#limits = limits
    this.#expire = expire
    this.#arm()
  }

  /** A sign of life. */
  extend (): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#arm()
  }

  /** Only the hard limit counts until `release`: a person who is being asked takes the time a person takes. */
  hold (): void {
    this.#held++
    this.extend()
  }

  release (): void {
    this.#held--
    this.extend()
  }

  stop (): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #arm (): void {
    const { callTimeout, callTimeoutMax } = this.#limits
    const left = Math.max(1, this.#startedAt + callTimeoutMax - performance.now())
    this.#timer = setTimeout(() => this.#expire(Math.round(performance.now() - this.#startedAt)), this.#held > 0 ? left : Math.min(callTimeout, left)).unref()
  }
}
