import type { Ask, Rate } from './bucket.js'
import type { RedisLink } from '../redis/connection.js'

let counters: Promise<typeof import('./counters.js')> | undefined

/**
 * Loads the counters. To be called at start, because Node.js never retries an import that failed, for example without
 * file descriptors.
 */
export async function loadCounters (): Promise<typeof import('./counters.js')> {
  counters ??= import('./counters.js')
  return await counters
}

/**
 * Counts in Redis together with all gateways that use it, or in this process if there is no Redis or it cannot be
 * reached.
 */
export function limiter (rate: Rate, redis?: RedisLink, prefix = 'patchbay:'): Ask {
  let ask: Promise<Ask> | undefined
  return async (key, tokens) => {
    ask ??= loadCounters().then(({ createCounter }) => createCounter(rate, redis, prefix))
    try {
      return await (await ask)(key, tokens)
    } catch {
      // A caller that cannot be counted is let in.
      return 0
    }
  }
}
