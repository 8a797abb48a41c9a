/**
 * How many buckets there are between a value and its double, as a power of two: eight, so that each is at most 12.5 %
 * wide.
 */
const BITS = 3
const PER_DOUBLING = 2 ** BITS
/** The width of the first buckets. With milliseconds, the last one ends at 35 minutes. */
const FIRST = 0.001
/** The largest value, in widths. */
const MOST = 2 ** 31 - 1

export const BUCKETS = (31 - BITS + 1) * PER_DOUBLING

/**
 * The number of the bucket of a value; the last one is for all beyond. In integers, because a logarithm costs more than
 * all else that is counted for a call.
 */
export function bucketOf (value: number): number {
  const widths = value > 0 ? Math.min(MOST, value / FIRST) | 0 : 0
  const shift = Math.max(0, 31 - BITS - Math.clz32(widths))
  return shift * PER_DOUBLING + (widths >> shift)
}

/** The middle of each bucket, with three digits. */
const MIDDLES = Array.from({ length: BUCKETS }, (_, bucket) => {
  const shift = Math.max(0, Math.floor(bucket / PER_DOUBLING) - 1)
  return Number((FIRST * (bucket - shift * PER_DOUBLING + 0.5) * 2 ** shift).toPrecision(3))
})

/** The values below which these shares of all lie, each as the middle of its bucket; 0 where there are none. */
export function quantiles (counts: Uint32Array, size: number, shares: readonly number[]): number[] {
  return shares.map(share => {
    let left = Math.ceil(share * size)
    const bucket = left === 0 ? -1 : counts.findIndex(count => (left -= count) <= 0)
    return MIDDLES[bucket] ?? 0
  })
}
