import type { Limits } from './limits.js'

/** How long Node.js can wait at once. */
const LONGEST = 2 ** 31 - 1

/** What is told when its time is up. */
export interface Timed { timeUp: (elapsedMs: number) => void }

/** Watches over calls with one timer for all: nearly every call is over long before it is due, and costs no timer of its own. */
export class Deadlines {
  readonly limits: Limits
  // Linked to each other, the last begun first. Of a Set through which thousands go, the garbage collector would keep many long
  // after they are gone: tables that a Set has outgrown refer to the next one, and old ones are looked at but now and then.
  #last: Deadline | undefined
  #timer: NodeJS.Timeout | undefined
  #armedFor = Infinity

  constructor (limits: Limits) {
    this.limits = limits
  }

  /** For what began then. */
  begin (startedAt: number, timed: Timed): Deadline {
    const deadline = new Deadline(this, startedAt, timed)
    deadline.before = this.#last
    if (this.#last !== undefined) this.#last.after = deadline
    this.#last = deadline
    this.look(deadline.dueAt)
    return deadline
  }

  end (deadline: Deadline): void {
    const { before, after } = deadline
    if (before !== undefined) before.after = after
    if (after !== undefined) after.before = before
    else if (this.#last === deadline) this.#last = before
    deadline.before = deadline.after = undefined
    // It may be among those that are looked at right now.
    deadline.dueAt = Infinity
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
    for (const deadline of this.#running()) if (deadline.dueAt <= now) deadline.expire(now)
    let next = Infinity
    for (const { dueAt } of this.#running()) next = Math.min(next, dueAt)
    this.look(next)
  }

  /** In the order they began. */
  #running (): Deadline[] {
    const running: Deadline[] = []
    for (let at = this.#last; at !== undefined; at = at.before) running.push(at)
    return running.reverse()
  }
}

/** When a call is given up: some time after its last sign of life, and after the hard limit in any case. */
export class Deadline {
  readonly #all: Deadlines
  // A clock that nobody can set.
  readonly #startedAt: number
  readonly #timed: Timed
  #held = 0
  dueAt: number
  /** Those that run and began before and after this one. */
  before: Deadline | undefined
  after: Deadline | undefined

  constructor (all: Deadlines, startedAt: number, timed: Timed) {
    this.#all = all
    this.#startedAt = startedAt
    this.#timed = timed
    this.dueAt = startedAt + Math.min(all.limits.callTimeout, all.limits.callTimeoutMax)
  }

  /** A sign of life, which changes nothing once it is over. */
  extend (): void {
    if (this.dueAt === Infinity) return
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
    this.#timed.timeUp(Math.round(now - this.#startedAt))
  }
}
