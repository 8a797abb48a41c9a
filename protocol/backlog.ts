export interface BacklogOptions {
  /** How many bytes wait for the client now. */
  size: () => number
  /** From how many on we watch whether it takes any. */
  max: number
  /** How long it may take none. */
  deadline: number
  cut: () => void
  /** True where answers do not even begin the watch: whoever asked for a lot may take its time. */
  patient?: boolean
}

const HARD_LIMIT = 16

/**
 * Watches what waits for a client. Much may wait for a moment, because it was written in one go; but whoever takes nothing of it for
 * too long is cut, and so is whoever lets notifications pile up far beyond the limit.
 */
export class Backlog {
  readonly #options: BacklogOptions
  #timer: NodeJS.Timeout | undefined
  #written = 0
  #taken = 0

  constructor (options: BacklogOptions) {
    this.#options = options
  }

  /** To be called after each write; `answer` where it was one, which is never the reason to cut. */
  written (bytes: number, answer: boolean): void {
    const { size, max, cut, patient = false } = this.#options
    this.#written += bytes
    const waiting = size()
    if (waiting > HARD_LIMIT * max && !answer) cut()
    else if (waiting > max && this.#timer === undefined && !(answer && patient)) this.#watch(waiting)
  }

  stop (): void {
    clearTimeout(this.#timer)
  }

  #watch (waiting: number): void {
    this.#taken = this.#written - waiting
    this.#timer = setTimeout(() => this.#look(), this.#options.deadline).unref()
  }

  #look (): void {
    const { size, max, cut } = this.#options
    const waiting = size()
    this.#timer = undefined
    if (waiting <= max) return
    if (this.#written - waiting > this.#taken) this.#watch(waiting)
    else cut()
  }
}
