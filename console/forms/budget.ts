/** How much a check may still do: how many schemas it may look at, and until when. */
export class Budget {
  #left: number
  readonly #until: number
  readonly #clock: () => number

  constructor (visits: number, ms: number, clock: () => number) {
    this.#left = visits
    this.#until = clock() + ms
    this.#clock = clock
  }

  add (visits: number): void {
    this.#left += visits
  }

  /** Takes so many visits. Throws when none is left, or no time. */
  spend (visits: number): void {
    if (this.#left <= 0 || this.#clock() > this.#until) throw new Error('The check takes too long.')
    this.#left -= visits
  }
}
