import type { BurstyRateLimiter, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
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

type Limiter = RateLimiterMemory | RateLimiterRedis
interface Window { keyPrefix: string, points: number, duration: number }

/** What goes beyond the rate comes back so slowly that it adds no more than a tenth to it, but within an hour. */
const SLOWER = 10
const HOUR = 3_600

type Library = typeof import('rate-limiter-flexible')

/** Counts in this process, or together with all who have the same Redis; while that is away, in this process. */
export function limiter (rate: Rate, redis?: RedisLink): Ask {
  let ask: Promise<Ask> | undefined
  // The library is loaded when there is something to count.
  return async (key, tokens) => await (await (ask ??= import('rate-limiter-flexible').then(library => counting(library, rate, redis))))(key, tokens)
}

function counting (library: Library, { name, rate, burst }: Rate, redis: RedisLink | undefined): Ask {
  const counter = (keyPrefix: string, points: number, duration: number) => counterOf(library, { keyPrefix, points, duration }, redis)
  const steady = counter(`patchbay:rate:${name}`, rate, 1)
  const more = burst - rate
  if (more <= 0) return asking(library, steady)
  const duration = Math.min(HOUR, Math.ceil(SLOWER * more / rate))
  return asking(library, new library.BurstyRateLimiter(steady, counter(`patchbay:burst:${name}`, more, duration)))
}

function counterOf ({ RateLimiterMemory, RateLimiterRedis }: Library, window: Window, redis: RedisLink | undefined): Limiter {
  const memory = new RateLimiterMemory(window)
  if (redis === undefined) return memory
  return new RateLimiterRedis({ ...window, storeClient: redis, useRedisPackage: true, rejectIfRedisNotReady: true, insuranceLimiter: memory })
}

// Whoever cannot be counted is let in.
const asking = ({ RateLimiterRes }: Library, from: Limiter | BurstyRateLimiter): Ask => async (key, tokens) => await from.consume(key, tokens).then(
  () => 0,
  (refused: unknown) => refused instanceof RateLimiterRes ? Math.max(1, refused.msBeforeNext) : 0)
