/** A run of characters that a reader would not see, as code points in words: `U+202E`. */
export interface HiddenRun { codes: string[], more: number }

/** More code points of one run than this are counted, not drawn. */
const MAX_DRAWN_IN_RUN = 16
/** After this many runs the rest of them is drawn as one mark each, without code points. */
const MAX_RUNS = 1_000

// Controls, formats (bidi, zero width, tags) and whatever else fonts ignore, but not newline, tab and the two selectors of emoji and text style.
const HIDDEN = /(?:(?!\r\n|[\n\t]|\uFE0E|\uFE0F)[\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2028\u2029])+/gu

/** Cuts a text into what can be seen and runs of what cannot. */
export function pieces (text: string): Array<string | HiddenRun> {
  const found: Array<string | HiddenRun> = []
  let end = 0
  let runs = 0
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    if (index > end) found.push(text.slice(end, index))
    found.push(describe(run, ++runs > MAX_RUNS ? 0 : MAX_DRAWN_IN_RUN))
    end = index + run.length
  }
  if (end < text.length) found.push(text.slice(end))
  return found
}

/** How many characters of a text a reader would not see. */
export function hiddenCount (text: string): number {
  let count = 0
  for (const [run] of text.matchAll(HIDDEN)) count += [...run].length
  return count
}

function describe (run: string, drawn: number): HiddenRun {
  const points = Array.from(run, character => character.codePointAt(0) ?? 0)
  const codes = points.slice(0, drawn).map(point => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`)
  return { codes, more: points.length - codes.length }
}
