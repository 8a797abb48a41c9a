import type { Ask } from './bucket.js'
import type { RedisLink } from './redis-link.js'

export interface Rate {
  /** What is counted. */
  name: string
  /** Tokens a second. */
  rate: number
  /** Tokens at once, after a time with less. */
  burst: number
}

/** Counts in this process, or together with all who have the same Redis; while that is away, in this process. */
export function limiter (rate: Rate, redis?: RedisLink): Ask {
  let ask: Promise<Ask> | undefined
  return async (key, tokens) => {
    // What counts is loaded when there is something to count.
    ask ??= import('./counters.js').then(({ counting }) => counting(rate, redis))
    return await (await ask)(key, tokens)
  }
}
