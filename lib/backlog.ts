export interface BacklogOptions {
  /** How many bytes wait for the client now. */
  size: () => number
  /** From how many on we watch whether it takes any. */
  max: number
  /** How long it may take none. */
  deadline: number
  cut: () => void
  /** True where answers do not even begin the watch: whoever asked for a lot may take its time. */
  toleratesResponses?: boolean
  /** All clients whose bytes are in the same memory. */
  shared?: Backlogs
}

const HARD_LIMIT = 16

/**
 * Watches what waits for a client. Much may wait for a moment, because it was written in one go; but whoever takes nothing of it for
 * too long is cut, and so is whoever lets notifications pile up far beyond the limit, or beyond the limit at all while too much waits for
 * everybody together.
 */
export class Backlog {
  readonly #options: BacklogOptions
  #timer: NodeJS.Timeout | undefined
  #written = 0
  #taken = 0

  constructor (options: BacklogOptions) {
    this.#options = options
  }

  /** How many bytes wait now. */
  get size (): number {
    return this.#options.size()
  }

  /** To be called after each write; `answer` where it was one, which is never the reason to cut. */
  recordWrite (bytes: number, answer: boolean): void {
    const { max, cut, toleratesResponses = false, shared } = this.#options
    this.#written += bytes
    const waiting = this.size
    if (waiting <= max) return
    shared?.add(this)
    if (!answer && (waiting > HARD_LIMIT * max || shared?.isExceeded === true)) cut()
    else if (this.#timer === undefined && !(answer && toleratesResponses)) this.#watch(waiting)
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
    const { max, cut } = this.#options
    const waiting = this.size
    this.#timer = undefined
    if (waiting <= max) return
    if (this.#written - waiting > this.#taken) this.#watch(waiting)
    else cut()
  }
}

/** Those who are behind, and what waits for them together. Whoever keeps up costs nothing here. */
export class Backlogs {
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
    let waiting = 0
    for (const backlog of this.#behind) {
      const { size } = backlog
      if (size === 0) this.#behind.delete(backlog)
      waiting += size
    }
    return waiting > this.#max
  }
}
