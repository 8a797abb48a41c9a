import { BurstyRateLimiter, RateLimiterRedis, RateLimiterRes, type RateLimiterMemory } from 'rate-limiter-flexible'
import type { Ask, Rate } from './bucket.js'
import type { RedisLink } from '../redis/connection.js'
import { WindowCounter } from './window-counter.js'

type Limiter = RateLimiterMemory | RateLimiterRedis
interface Window { keyPrefix: string, points: number, duration: number }

/** The burst refills so slowly that it adds at most a tenth to the rate on average, but within an hour. */
const REFILL_FACTOR = 10
const HOUR = 3_600

/**
 * Counts in windows of a second for the rate, and in longer ones for the burst. Keys in Redis begin with the prefix.
 */
export function createCounter ({ name, rate, burst }: Rate, redis: RedisLink | undefined, prefix: string): Ask {
  const steady = counter({ keyPrefix: `${prefix}rate:${name}`, points: rate, duration: 1 }, redis)
  const more = burst - rate
  if (more <= 0) return toAsk(steady)
  const duration = Math.min(HOUR, Math.ceil(REFILL_FACTOR * more / rate))
  return toAsk(
    new BurstyRateLimiter(steady, counter({ keyPrefix: `${prefix}burst:${name}`, points: more, duration }, redis))
  )
}

function counter (window: Window, redis: RedisLink | undefined): Limiter {
  const memory = new WindowCounter(window)
  if (redis === undefined) return memory
  return new RateLimiterRedis({
    ...window,
    storeClient: redis,
    useRedisPackage: true,
    rejectIfRedisNotReady: true,
    insuranceLimiter: memory
  })
}

// A caller that cannot be counted is let in.
const toAsk = (from: Limiter | BurstyRateLimiter): Ask => async (key, tokens) => await from.consume(key, tokens).then(
  () => 0,
  (refused: unknown) => refused instanceof RateLimiterRes ? Math.max(1, refused.msBeforeNext) : 0)
