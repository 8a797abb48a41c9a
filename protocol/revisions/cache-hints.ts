import type { CacheHints } from './revision.js'

/** The caching hints of a result; undefined where it has none that can be used. */
export function hintsOf ({ ttlMs, cacheScope }: Readonly<Record<string, unknown>>): CacheHints | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' }
}

/** Combines two hints: the shorter time, and `private` if one of them is. */
export function leastHints (one: CacheHints, other: CacheHints): CacheHints {
  return {
    ttlMs: Math.min(one.ttlMs, other.ttlMs),
    cacheScope: one.cacheScope === 'public' && other.cacheScope === 'public' ? 'public' : 'private'
  }
}
