/** How many buckets there are between a value and its double: each is 19 % wide. */
const PER_DOUBLING = 4
/** The end of the first bucket. With milliseconds, the last one begins at 31 minutes. */
const FIRST = 0.01

export const BUCKETS = 112

/** The number of the bucket of a value: 0 up to `FIRST`, and the last one for all beyond. */
export const bucketOf = (value: number): number => value <= FIRST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log2(value / FIRST) * PER_DOUBLING))

/** The middle of each bucket, with three digits. */
const MIDDLES = Array.from({ length: BUCKETS }, (_, bucket) => Number((FIRST * 2 ** ((bucket - 0.5) / PER_DOUBLING)).toPrecision(3)))

/** The values below which these shares of all lie, each as the middle of its bucket; 0 where there are none. */
export function quantiles (counts: Uint32Array, size: number, shares: readonly number[]): number[] {
  return shares.map(share => {
    let left = Math.ceil(share * size)
    const bucket = left === 0 ? -1 : counts.findIndex(count => (left -= count) <= 0)
    return MIDDLES[bucket] ?? 0
  })
}
