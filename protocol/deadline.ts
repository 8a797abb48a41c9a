import { now } from './clock.js'
import { errors, type McpError } from './errors.js'
import type { Limits } from './limits.js'

/** How long Node.js can wait at once. */
const LONGEST = 2 ** 31 - 1

/** What is given up when its time is up. */
export interface Timed {
  readonly startedAt: number
  /** Infinity once it is over. */
  readonly dueAt: number
  giveUp: (error: McpError) => void
}

/** Watches over calls with one timer for all: nearly every call is over long before it is due, and costs no timer of its own, nor a place in a list. */
export class Deadlines {
  readonly limits: Limits
  readonly #running: () => readonly Timed[]
  #timer: NodeJS.Timeout | undefined
  #armedFor = Infinity

  /** `running` gives all that is under way, and what ends or begins meanwhile does not change it. */
  constructor (limits: Limits, running: () => readonly Timed[]) {
    this.limits = limits
    this.#running = running
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
}

/** When something is given up that gives signs of life: some time after the last of them, and after the hard limit in any case. */
export class Deadline {
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
