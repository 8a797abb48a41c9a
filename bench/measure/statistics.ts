/** Median and range of several samples of one thing. */
export interface Spread { median: number, min: number, max: number }

export function median (values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low = NaN, high = NaN] = [sorted[middle - 1 + sorted.length % 2], sorted[middle]]
  return (low + high) / 2
}

export function spreadOf (values: number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/**
 * Both were measured in the same rounds: what disturbs the machine for a while disturbs both, and leaves their ratio
 * alone.
 */
export function ratioOf (values: number[], others: number[]): Spread {
  return spreadOf(values.slice(0, others.length).map((value, round) => value / (others[round] as number)))
}

/**
 * The median of the ratios of values that were measured in pairs, with the interval in which it lies with 95 %, by the
 * ranks of the ratios, whatever their distribution is.
 */
export function pairedRatioOf (values: number[], others: number[]): Spread {
  const ratios = values.map((value, pair) => value / (others[pair] as number)).sort((a, b) => a - b)
  const below = Math.max(0, Math.floor((ratios.length - 1.96 * Math.sqrt(ratios.length)) / 2))
  const at = (rank: number): number => ratios[rank] as number
  return { median: median(ratios), min: at(below), max: at(ratios.length - 1 - below) }
}

export function inWords ({ median, min, max }: Spread): string {
  return min === max ? short(median) : `${short(median)} [${short(min)}..${short(max)}]`
}

/** As many digits as can be trusted. */
export function short (value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  if (Math.abs(value) >= 10) return value.toFixed(1)
  return Math.abs(value) >= 0.095 || value === 0 ? value.toFixed(2) : Number(value.toPrecision(2)).toString()
}
