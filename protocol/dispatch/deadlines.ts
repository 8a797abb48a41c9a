import { now } from '../../lib/time/clock.js'
import { errors, type McpError } from '../wire/errors.js'
import type { Limits } from '../wire/limits.js'

/** How long Node.js can wait at once. */
const LONGEST = 2 ** 31 - 1

/** Watches over calls with one timer for all: nearly every call is over long before it is due, and costs no timer of its own. */
export class Deadlines {
  readonly limits: Limits
  // Linked to each other, the last begun first. Of a Set through which thousands go, the garbage collector would keep many long
  // after they are gone: tables that a Set has outgrown refer to the next one, and old ones are looked at but now and then.
  #last: Timed | undefined
  #timer: NodeJS.Timeout | undefined
  #armedFor = Infinity

  constructor (limits: Limits) {
    this.limits = limits
  }

  begin (timed: Timed): void {
    timed.before = this.#last
    if (this.#last !== undefined) this.#last.after = timed
    this.#last = timed
    this.look(this.first(timed.startedAt))
  }

  end (timed: Timed): void {
    const { before, after } = timed
    if (before !== undefined) before.after = after
    if (after !== undefined) after.before = before
    else if (this.#last === timed) this.#last = before
    timed.before = timed.after = undefined
  }

  /** When something is due that began then and gave no sign of life. */
  first (startedAt: number): number {
    return startedAt + Math.min(this.limits.callTimeout, this.limits.callTimeoutMax)
  }

  /** Looks at that time at the latest. */
  look (at: number): void {
    if (at < this.#armedFor) this.#arm(at)
  }

  #arm (at: number): void {
    clearTimeout(this.#timer)
    this.#armedFor = at
    this.#timer = setTimeout(() => this.#check(), Math.min(LONGEST, Math.max(1, Math.ceil(at - now())))).unref()
  }

  #check (): void {
    this.#armedFor = Infinity
    const moment = now()
    // The end of one may end others, or be a sign of life for them.
    for (const timed of this.#running()) if (timed.dueAt <= moment) timed.giveUp(errors.timeout(Math.round(moment - timed.startedAt)))
    let next = Infinity
    for (const { dueAt } of this.#running()) next = Math.min(next, dueAt)
    this.look(next)
  }

  /** In the order they began. */
  #running (): Timed[] {
    const running: Timed[] = []
    for (let at = this.#last; at !== undefined; at = at.before) running.push(at)
    return running.reverse()
  }
}

/** Something that is given up when its time is up. What it takes to wait longer is made when it gives its first sign of life. */
export abstract class Timed {
  readonly startedAt = now()
  /** Those that run and began before and after this one. */
  before: Timed | undefined
  after: Timed | undefined
  #all: Deadlines | undefined
  #deadline: Deadline | undefined

  abstract giveUp (error: McpError): void

  /** Infinity when it is over, or has no clock. */
  get dueAt (): number {
    return this.#all === undefined ? Infinity : this.#deadline?.dueAt ?? this.#all.first(this.startedAt)
  }

  startClock (all: Deadlines): void {
    this.#all = all
    all.begin(this)
  }

  stopClock (): void {
    this.#all?.end(this)
    this.#all = undefined
  }

  /** Undefined when it is over, or has no clock. */
  get deadline (): Deadline | undefined {
    if (this.#all === undefined) return undefined
    this.#deadline ??= new Deadline(this.#all, this.startedAt)
    return this.#deadline
  }
}

/** When something is given up that gives signs of life: some time after the last of them, and after the hard limit in any case. */
class Deadline {
  readonly #all: Deadlines
  readonly #startedAt: number
  #held = 0
  #dueAt: number

  constructor (all: Deadlines, startedAt: number) {
    this.#all = all
    this.#startedAt = startedAt
    this.#dueAt = all.first(startedAt)
  }

  get dueAt (): number {
    return this.#dueAt
  }

  extend (): void {
    const { callTimeout, callTimeoutMax } = this.#all.limits
    const last = this.#startedAt + callTimeoutMax
    this.#dueAt = this.#held > 0 ? last : Math.min(last, now() + callTimeout)
    this.#all.look(this.#dueAt)
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
}
