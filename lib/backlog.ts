import { Listeners } from './listeners.js'

export interface BacklogOptions {
  /** How many bytes wait to be written to the client. */
  size: () => number
  /** The number of waiting bytes from which the client has to keep reading. */
  max: number
  /** How long the client may read nothing, in milliseconds. */
  deadline: number
  cut: () => void
  /** True where a response does not start the clock: a client that asked for a lot may read it slowly. */
  toleratesResponses?: boolean
  /** The backlogs of all clients of the process. */
  shared?: Backlogs
}

const HARD_LIMIT = 16

/**
 * Disconnects a client that does not read. Above `max` waiting bytes, a client is cut off when it reads nothing for
 * `deadline`, when a notification finds 16 times `max` waiting, or when a notification finds the shared limit of all
 * clients exceeded.
 */
export class Backlog {
  readonly #options: BacklogOptions
  #timer: NodeJS.Timeout | undefined
  #written = 0
  #taken = 0

  constructor (options: BacklogOptions) {
    this.#options = options
  }

  /** How many bytes wait to be written. */
  get size (): number {
    return this.#options.size()
  }

  /** To be called after each write; a response never cuts the client off by itself. */
  recordWrite (bytes: number, isResponse: boolean): void {
    const { max, toleratesResponses = false, shared } = this.#options
    this.#written += bytes
    const waiting = this.size
    if (waiting <= max) return
    shared?.add(this)
    if (!isResponse && (waiting > HARD_LIMIT * max || shared?.isExceeded === true)) this.#cut('queue')
    else if (this.#timer === undefined && !(isResponse && toleratesResponses)) this.#watch(waiting)
  }

  stop (): void {
    clearTimeout(this.#timer)
    this.#options.shared?.remove(this)
  }

  #watch (waiting: number): void {
    this.#taken = this.#written - waiting
    this.#timer = setTimeout(() => this.#look(), this.#options.deadline).unref()
  }

  #look (): void {
    const { max } = this.#options
    const waiting = this.size
    this.#timer = undefined
    if (waiting <= max) return
    if (this.#written - waiting > this.#taken) this.#watch(waiting)
    else this.#cut('deadline')
  }

  #cut (reason: CutReason): void {
    this.#options.shared?.cuts.notify(reason)
    this.#options.cut()
  }
}

/**
 * Why a client was disconnected: too much waits for it, it has read nothing for too long, or it does not answer pings.
 */
export type CutReason = 'queue' | 'deadline' | 'heartbeat'

/** The backlogs above their limit, and how many bytes wait in all of them. A client that keeps up is not in here. */
export class Backlogs {
  /** Listeners to each client that is disconnected because it does not read or answer. */
  readonly cuts = new Listeners<[reason: CutReason]>()
  readonly #max: number
  readonly #behind = new Set<Backlog>()

  constructor (max: number) {
    this.#max = max
  }

  add (backlog: Backlog): void {
    this.#behind.add(backlog)
  }

  remove (backlog: Backlog): void {
    this.#behind.delete(backlog)
  }

  get isExceeded (): boolean {
    return this.waiting > this.#max
  }

  /** How many bytes wait for clients that are behind. */
  get waiting (): number {
    let waiting = 0
    for (const backlog of this.#behind) {
      const { size } = backlog
      if (size === 0) this.#behind.delete(backlog)
      waiting += size
    }
    return waiting
  }
}
