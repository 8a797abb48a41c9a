import type { Ask, Rate } from './bucket.js'
import type { RedisLink } from '../redis/link.js'

let counters: Promise<typeof import('./counters.js')> | undefined

/** Loads what counts. Node.js never retries an import that failed, for example for want of file descriptors. */
export async function loadCounters (): Promise<typeof import('./counters.js')> {
  counters ??= import('./counters.js')
  return await counters
}

/** Counts in this process, or together with all who have the same Redis; while that is away, in this process. */
export function limiter (rate: Rate, redis?: RedisLink): Ask {
  let ask: Promise<Ask> | undefined
  return async (key, tokens) => {
    ask ??= loadCounters().then(({ counting }) => counting(rate, redis))
    try {
      return await (await ask)(key, tokens)
    } catch {
      // A caller that cannot be counted is let in.
      return 0
    }
  }
}
