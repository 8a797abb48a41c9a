// The global `performance` is a getter that costs more than reading the clock, so it is read once.
const { performance } = globalThis

/** Milliseconds on the monotonic clock, which cannot be set. */
export const now = (): number => performance.now()

/**
 * Settles like the promise, or after `ms` milliseconds with what `onTimeout` returns or throws. The timer keeps no
 * process alive.
 */
export async function withTimeout<T, L> (promise: Promise<T>, ms: number, onTimeout: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>(resolve => { timer = setTimeout(resolve, ms).unref() })
  try {
    return await Promise.race([promise, timeout.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}

/** In milliseconds: what slewing, leap seconds and rounding add up to is no step. */
const TOLERANCE = 1_000

/**
 * Tells when the time of day was set, by comparing it with the clock that cannot be set, which stands still while the
 * machine sleeps.
 */
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

/**
 * How long a hook may take when the server closes. Fastify gives it up as it gives up a plugin that does not start, so
 * we have to be ready well before.
 */
export const closeHookBudget = (pluginTimeout = 0): number => pluginTimeout === 0 ? Infinity : pluginTimeout * 0.8

/** A delay that doubles each time, up to the longest: `first` for the first time, which is 0. */
export const growingDelay = (first: number, longest: number, times: number): number =>
  Math.min(longest, first * 2 ** times)

/** Counts calls of the function it returns, and runs `onExcess` at the first one beyond `max` in a second. */
export function limitPerSecond (max: number, onExcess: () => void): () => void {
  let since = -Infinity
  let count = 0
  return () => {
    const time = now()
    if (time - since >= 1_000) [since, count] = [time, 0]
    if (++count === max + 1) onExcess()
  }
}
