import { now } from '../../lib/time.js'
import { errors, type McpError } from '../wire/errors.js'
import type { Limits } from '../wire/limits.js'

/** The longest delay of `setTimeout`. */
const MAX_DELAY = 2 ** 31 - 1

/** Something that is given up when its time is up. */
export interface TimedCall {
  readonly startedAt: number
  giveUp (error: McpError): void
}

/** Gives up calls whose time is up, with one timer for all: nearly every call is answered long before it is due. */
export class Deadlines {
  readonly limits: Limits
  // A linked list, the newest entry first, because a Set would keep calls reachable: see lib/recycled.ts.
  #newest: DeadlineEntry | undefined
  readonly #report: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #checkAt = Infinity

  /** `report` takes what giving up a call throws; the other calls are given up all the same. */
  constructor (limits: Limits, report: (error: unknown) => void = () => {}) {
    this.limits = limits
    this.#report = report
  }

  /** Starts the clock of a call. */
  add (call: TimedCall): DeadlineEntry {
    const entry = new DeadlineEntry(this, call)
    entry.older = this.#newest
    if (this.#newest !== undefined) this.#newest.newer = entry
    this.#newest = entry
    this.scheduleCheck(entry.dueAt)
    return entry
  }

  /** Everything that is running, oldest first. */
  get calls (): TimedCall[] {
    return this.#oldestFirst().map(({ call }) => call)
  }

  remove (entry: DeadlineEntry): void {
    const { older, newer } = entry
    if (older !== undefined) older.newer = newer
    if (newer !== undefined) newer.older = older
    else if (this.#newest === entry) this.#newest = older
    entry.older = entry.newer = undefined
  }

  /** Makes the timer fire at that time at the latest. */
  scheduleCheck (at: number): void {
    if (at >= this.#checkAt) return
    clearTimeout(this.#timer)
    this.#checkAt = at
    this.#timer = setTimeout(() => this.#check(), Math.min(MAX_DELAY, Math.max(1, Math.ceil(at - now())))).unref()
  }

  #check (): void {
    this.#checkAt = Infinity
    const moment = now()
    // Giving up one call may end or extend others, so `dueAt` is read again for each.
    for (const entry of this.#oldestFirst()) if (entry.dueAt <= moment) this.#giveUp(entry, moment)
    let next = Infinity
    for (const { dueAt } of this.#oldestFirst()) next = Math.min(next, dueAt)
    this.scheduleCheck(next)
  }

  #giveUp (entry: DeadlineEntry, moment: number): void {
    try {
      entry.call.giveUp(timeoutOf(entry, moment))
    } catch (error) {
      // It would be due at each check from now on.
      entry.stop()
      this.#report(error)
    }
  }

  #oldestFirst (): DeadlineEntry[] {
    const entries: DeadlineEntry[] = []
    for (let entry = this.#newest; entry !== undefined; entry = entry.older) entries.push(entry)
    return entries.reverse()
  }
}

function timeoutOf ({ call, upstream }: DeadlineEntry, moment: number): McpError {
  const elapsed = Math.round(moment - call.startedAt)
  return upstream === undefined ? errors.timeout(elapsed) : errors.upstreamTimeout(upstream, elapsed)
}

/**
 * The deadline of one call: `callTimeout`, or a timeout of its own, after its last progress, and `callTimeoutMax` after
 * its start in any case.
 */
export class DeadlineEntry {
  readonly call: TimedCall
  /** The neighbours in the list of all running calls. */
  older: DeadlineEntry | undefined
  newer: DeadlineEntry | undefined
  #deadlines: Deadlines | undefined
  #dueAt: number
  #timeout: number
  #upstream: string | undefined
  #holds = 0
  #last: number

  constructor (deadlines: Deadlines, call: TimedCall) {
    this.call = call
    this.#deadlines = deadlines
    this.#timeout = deadlines.limits.callTimeout
    this.#last = call.startedAt + deadlines.limits.callTimeoutMax
    this.#dueAt = Math.min(call.startedAt + this.#timeout, this.#last)
  }

  /** The upstream server that the call waits for, if it waits for one. */
  get upstream (): string | undefined {
    return this.#upstream
  }

  /** Says that an upstream answers the call, which may have a timeout of its own. Counts as progress. */
  waitFor (upstream: string, timeout: number | undefined): void {
    this.#upstream = upstream
    if (timeout === undefined) return
    this.#timeout = timeout
    this.extend()
  }

  /** Infinity once it is stopped. */
  get dueAt (): number {
    return this.#deadlines === undefined ? Infinity : this.#dueAt
  }

  /** Counts as progress of the call. */
  extend (): void {
    if (this.#deadlines === undefined) return
    this.#dueAt = this.#holds > 0 ? this.#last : Math.min(this.#last, now() + this.#timeout)
    this.#deadlines.scheduleCheck(this.#dueAt)
  }

  /** Only `callTimeoutMax` counts until `release`: a person who is asked may take longer than a program. */
  hold (): void {
    this.#holds++
    this.extend()
  }

  release (): void {
    this.#holds--
    this.extend()
  }

  /** Lets the call run until that time, with progress or without. */
  allowUntil (time: number): void {
    this.#last = time
    this.hold()
  }

  stop (): void {
    this.#deadlines?.remove(this)
    this.#deadlines = undefined
  }
}
