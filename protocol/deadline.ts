import type { Limits } from './limits.js'

/** How long Node.js can wait at once. */
const LONGEST = 2 ** 31 - 1

/** Watches over calls with one timer for all: nearly every call is over long before it is due, and costs no timer of its own. */
export class Deadlines {
  readonly limits: Limits
  readonly #running = new Set<Deadline>()
  #timer: NodeJS.Timeout | undefined
  #armedFor = Infinity

  constructor (limits: Limits) {
    this.limits = limits
  }

  /** For a call that began then. */
  begin (startedAt: number, expire: (elapsedMs: number) => void): Deadline {
    const deadline = new Deadline(this, startedAt, expire)
    this.#running.add(deadline)
    this.look(deadline.dueAt)
    return deadline
  }

  end (deadline: Deadline): void {
    this.#running.delete(deadline)
  }

  /** Looks at that time at the latest. */
  look (at: number): void {
    if (at >= this.#armedFor) return
    clearTimeout(this.#timer)
    this.#armedFor = at
    this.#timer = setTimeout(() => this.#check(), Math.min(LONGEST, Math.max(1, Math.ceil(at - performance.now())))).unref()
  }

  #check (): void {
    this.#armedFor = Infinity
    const now = performance.now()
    for (const deadline of this.#running) if (deadline.dueAt <= now) deadline.expire(now)
    let next = Infinity
    for (const { dueAt } of this.#running) next = Math.min(next, dueAt)
    this.look(next)
  }
}

/** When a call is given up: some time after its last sign of life, and after the hard limit in any case. */
export class Deadline {
  readonly #all: Deadlines
  // A clock that nobody can set.
  readonly #startedAt: number
  readonly #expire: (elapsedMs: number) => void
  #held = 0
  dueAt: number

  constructor (all: Deadlines, startedAt: number, expire: (elapsedMs: number) => void) {
    this.#all = all
    this.#startedAt = startedAt
    this.#expire = expire
    this.dueAt = startedAt + Math.min(all.limits.callTimeout, all.limits.callTimeoutMax)
  }

  /** A sign of life. */
  extend (): void {
    const { callTimeout, callTimeoutMax } = this.#all.limits
    const last = this.#startedAt + callTimeoutMax
    this.dueAt = this.#held > 0 ? last : Math.min(last, performance.now() + callTimeout)
    this.#all.look(this.dueAt)
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
    this.#all.end(this)
  }

  expire (now: number): void {
    this.stop()
    this.#expire(Math.round(now - this.#startedAt))
  }
}
