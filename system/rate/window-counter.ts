import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'

interface Window { used: number, until: number }

/**
 * Counts in this process, in windows of the monotonic clock: they neither end early nor last longer when the time of
 * day is set. A subclass, because `RateLimiterRedis` takes only limiters of its own package as the one to use while
 * Redis is away.
 */
export class WindowCounter extends RateLimiterMemory {
  readonly #windows = new Map<string, Window>()

  override async consume (key: string | number, points = 1): Promise<RateLimiterRes> {
    const at = performance.now()
    const known = this.#windows.get(String(key))
    const isFirst = known === undefined || known.until <= at
    const window = isFirst ? this.#open(String(key), at) : known
    window.used += points
    const result = new RateLimiterRes(
      Math.max(0, this.points - window.used),
      Math.ceil(window.until - at),
      window.used,
      isFirst
    )
    if (window.used > this.points) throw result
    return result
  }

  #open (key: string, at: number): Window {
    const ms = this.duration * 1_000
    const window = { used: 0, until: at + ms }
    this.#windows.set(key, window)
    setTimeout(() => { if (this.#windows.get(key) === window) this.#windows.delete(key) }, ms).unref()
    return window
  }
}
