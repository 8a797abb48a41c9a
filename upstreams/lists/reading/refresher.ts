/**
 * Runs something again after it was asked to: one run at a time, and what is asked for meanwhile is one more run after
 * a delay.
 */
export class Refresher {
  readonly #run: () => Promise<void>
  readonly #delay: number
  #running = false
  #again = false
  #timer: NodeJS.Timeout | undefined
  #closed = false

  /** `run` must not reject. */
  constructor (run: () => Promise<void>, delay: number) {
    this.#run = run
    this.#delay = delay
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
    if (!this.#closed) this.#timer = setTimeout(() => this.#rested(), this.#delay).unref()
  }

  #rested (): void {
    this.#timer = undefined
    if (this.#again) void this.#start()
  }
}
