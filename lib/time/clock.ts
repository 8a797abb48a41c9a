// Node.js looks for it each time somebody names it, which takes longer than to read the clock.
const { performance } = globalThis

/** Milliseconds on a clock that nobody can set. */
export const now = (): number => performance.now()

/** How long two clocks are taken to go alike, and how far apart they may be, in milliseconds. */
const TRUSTED = 50
const APART = 2

/**
 * The time of day, for those who have read the other clock already: to read both takes twice as long. They are compared now and then, as
 * somebody may set this one, and the other one stands still while the machine sleeps.
 */
export class TimeOfDay {
  #ahead = 0
  #until = -Infinity

  /** In milliseconds, as `Date.now()`. */
  at (moment: number): number {
    if (moment >= this.#until) this.#compare(moment)
    return Math.floor(moment + this.#ahead)
  }

  #compare (moment: number): void {
    const ahead = Date.now() - moment
    if (Math.abs(ahead - this.#ahead) > APART) this.#ahead = ahead
    this.#until = moment + TRUSTED
  }
}
