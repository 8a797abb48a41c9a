const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long something took: `0.4 ms`, `12 ms`, `1.25 s`, `2 min 5 s`. */
export function duration (ms: number): string {
  if (ms < 9.95) return `${trim(ms, 1)} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${trim(ms / SECOND, ms < 9995 ? 2 : 1)} s`
  return span(ms)
}

/** How old something is: `3 s`, `2 min 5 s`, `4 h 10 min`, `3 d 2 h`; seconds are the smallest unit. */
export function span (ms: number): string {
  const units: Array<[number, string]> = [[DAY, 'd'], [HOUR, 'h'], [MINUTE, 'min'], [SECOND, 's']]
  const whole = Math.max(0, Math.floor(ms / SECOND) * SECOND)
  const first = units.findIndex(([unit]) => whole >= unit)
  if (first === -1) return '0 s'
  const parts = units
    .slice(first, first + 2)
    .map(
      ([unit, name], index) =>
        [Math.floor((index === 0 ? whole : whole % (units[first]?.[0] ?? unit)) / unit), name] as const
    )
  return parts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`).join(' ')
}

/** `just now`, `3 s ago`. */
export const ago = (ms: number): string => ms < SECOND ? 'just now' : `${span(ms)} ago`

/** The number with so many digits after the point, or fewer where these are zeros. */
export function trim (value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}

/** How far a call is, and how much there is, where the server says that. */
interface Progress { readonly progress: number, readonly total?: number | undefined }

/** From 0 to 1; undefined where the server does not say how much there is. */
export function shareOf ({ progress, total }: Progress): number | undefined {
  return total === undefined || !(total > 0) ? undefined : Math.min(1, Math.max(0, progress / total))
}

/** `33 %`, or how far it is where the end is not known: `7 so far`. */
export function progressInWords (progress: Progress): string {
  const share = shareOf(progress)
  return share === undefined ? `${progress.progress.toLocaleString()} so far` : `${Math.floor(share * 100)} %`
}
