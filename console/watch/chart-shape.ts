/** The shape of a line chart: nothing here touches the page. */

interface Box { width: number, height: number }

/** The least value on a logarithmic axis. */
const SMALLEST = 0.1

/**
 * The ends of the axis and the marks between: at most `most` steps of 1, 2 or 5 times a power of ten, the last not
 * below `max`.
 */
export function ticks (max: number, most = 4): number[] {
  const rough = (max > 0 ? max : 1) / most
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = ([1, 2, 5].find(factor => factor * power >= rough * (1 - 1e-9)) ?? 10) * power
  const count = Math.max(1, Math.ceil(max / step - 1e-9))
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** An axis: its marks, and how high a value is on it, from 0 to 1. */
interface Axis { marks: number[], heightOf: (value: number) => number }

export function linearAxis (max: number): Axis {
  const marks = ticks(max)
  const top = marks.at(-1) ?? 1
  return { marks, heightOf: value => Math.min(1, value / top) }
}

/**
 * Each mark is ten times the one before, so that what is slow does not hide what is quick. Smaller values than
 * `SMALLEST` are at the bottom.
 */
export function logAxis (min: number, max: number): Axis {
  const first = Math.floor(Math.log10(Math.max(SMALLEST, min)))
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(SMALLEST, max)) - 1e-9))
  const marks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
  return {
    marks,
    heightOf: value => Math.min(1, Math.max(0, (Math.log10(Math.max(SMALLEST, value)) - first) / (last - first)))
  }
}

/**
 * The path of one line from the left to the right edge. Undefined values are gaps; a value between two gaps is a dot.
 */
export function linePath (
  values: ReadonlyArray<number | undefined>,
  heightOf: Axis['heightOf'],
  { width, height }: Box
): string {
  const step = width / Math.max(1, values.length - 1)
  let path = ''
  values.forEach((value, index) => {
    if (value === undefined) return
    const x = round(index * step)
    const y = round(height - heightOf(value) * height)
    const begins = values[index - 1] === undefined
    path += begins ? `M${x} ${y}` : `L${x} ${y}`
    if (begins && values[index + 1] === undefined) path += 'h0'
  })
  return path
}

/** The least and the greatest value of all lines; zeros when there is none. */
export function extremes (lines: ReadonlyArray<ReadonlyArray<number | undefined>>): { min: number, max: number } {
  let min = Infinity
  let max = 0
  for (const line of lines) {
    for (const value of line) {
      if (value === undefined) continue
      if (value > max) max = value
      if (value < min) min = value
    }
  }
  return { min: Math.min(min, max), max }
}

/** Marks on the axis of time, in seconds before its end, the earliest first: every minute, or half of one. */
export function timeMarks (seconds: number): number[] {
  const step = seconds > 60 ? 60 : 30
  return Array.from({ length: Math.floor(seconds / step) + 1 }, (_, index) => seconds - index * step)
}

/** `now`, `30 s`, `2 min`. */
export const markWords = (secondsAgo: number): string =>
  secondsAgo === 0 ? 'now' : secondsAgo % 60 === 0 ? `${secondsAgo / 60} min` : `${secondsAgo} s`

const round = (value: number): number => Math.round(value * 10) / 10
