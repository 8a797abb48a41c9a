import type { Second } from '../client/watch-batch.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const LONGEST = 5 * MINUTE
/** The gateway sends a second at most this long after it ended; one that is absent by then had none. */
const SENT_BY = 3 * SECOND
/** Rates "now" are means over this many seconds. */
const NOW = 5

/** The seconds that a chart shows: from `from`, `length` of them. */
interface TimeWindow { from: number, length: number }

/**
 * Ends with the last second known; begins a minute before, and earlier by whole minutes, up to five, as more is known.
 * `now` is by the clock of the gateway.
 */
export function timeWindow (seconds: readonly Second[], now: number): TimeWindow {
  const end = Math.max(seconds.at(-1)?.at ?? 0, Math.floor((now - SENT_BY) / SECOND) * SECOND) + SECOND
  const known = end - (seconds[0]?.at ?? end)
  const length = Math.min(LONGEST, Math.max(MINUTE, Math.ceil(known / MINUTE) * MINUTE))
  return { from: end - length, length: length / SECOND }
}

/**
 * One entry for each second of the window; `undefined` before the first that is known, zeros where there were no calls.
 */
export function fill (seconds: readonly Second[], { from, length }: TimeWindow): Array<Second | undefined> {
  const known = new Map(seconds.map(second => [Math.floor(second.at / SECOND), second]))
  const first = seconds[0]?.at ?? Infinity
  return Array.from({ length }, (_, index) => {
    const at = from + index * SECOND
    return (
      known.get(Math.floor(at / SECOND)) ??
      (at < first ? undefined : { at, calls: 0, errors: 0, p50: 0, p95: 0, p99: 0 })
    )
  })
}

/** Calls a second over the last few seconds. */
export function currentRate (filled: ReadonlyArray<Second | undefined>): number {
  const last = filled.slice(-NOW).filter(second => second !== undefined)
  return last.length === 0 ? 0 : last.reduce((sum, { calls }) => sum + calls, 0) / last.length
}
