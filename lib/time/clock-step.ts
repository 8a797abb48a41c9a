import { now } from './clock.js'

/** In milliseconds: what slewing, leap seconds and rounding add up to is no step. */
const TOLERANCE = 1_000

/** Tells when the time of day was set, by comparing it with the clock that cannot be set, which stands still while the machine sleeps. */
export class ClockStep {
  #ahead = Date.now() - now()

  /** True when the time of day was set since the last call that returned true. */
  happened (): boolean {
    const ahead = Date.now() - now()
    if (Math.abs(ahead - this.#ahead) <= TOLERANCE) return false
    this.#ahead = ahead
    return true
  }
}
