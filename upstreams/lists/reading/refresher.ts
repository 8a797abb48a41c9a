/** How many times longer the delay becomes at most. */
const LONGEST = 50

/**
 * Runs something again after it was asked to: one run at a time, and what is asked for meanwhile is one more run after a delay. The delay
 * doubles as long as each is followed by another run: a server that announces changes without end, or two gateways that are upstreams of each other, would cause as many.
 */
export class Refresher {
  readonly #run: () => Promise<void>
  readonly #delay: number
  #wait: number
  #running = false
  #again = false
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** `run` must not reject. */
  constructor (run: () => Promise<void>, delay: number) {
    this.#run = run
    this.#delay = this.#wait = delay
  }

  request (): void {
    if (this.#closed) return
    if (this.#running || this.#timer !== undefined) this.#again = true
    else void this.#start()
  }

  close (): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  async #start (): Promise<void> {
    this.#running = true
    this.#again = false
    await this.#run()
    this.#running = false
    if (!this.#closed) this.#timer = setTimeout(() => this.#rested(), this.#wait).unref()
  }

  #rested (): void {
    this.#timer = undefined
    this.#wait = this.#again ? Math.min(2 * this.#wait, LONGEST * this.#delay) : this.#delay
    if (this.#again) void this.#start()
  }
}
