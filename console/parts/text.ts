/** A run of characters that a reader would not see, as code points in words: `U+202E`. */
export interface HiddenRun { codes: string[], more: number }

/** More code points of one run than this are counted, not drawn. */
const MAX_DRAWN_IN_RUN = 16
/**
 * After this many runs the rest of the text is one piece, in which each run is a mark without code points: each piece
 * becomes an element.
 */
const MAX_RUNS = 1_000

// Controls, formats (bidi, zero width, tags) and whatever else fonts ignore, but not newline, tab and the two selectors
// of emoji and text style.
const HIDDEN = /(?:(?!\r\n|[\n\t]|\uFE0E|\uFE0F)[\p{Cc}\p{Cf}\p{Cs}\p{DI}\u2028\u2029])+/gu

/** Cuts a text into what can be seen and runs of what cannot. */
export function pieces (text: string): Array<string | HiddenRun> {
  const found: Array<string | HiddenRun> = []
  let end = 0
  let runs = 0
  for (const { 0: run, index } of text.matchAll(HIDDEN)) {
    if (index > end) found.push(text.slice(end, index))
    found.push(describe(run))
    end = index + run.length
    if (++runs === MAX_RUNS) break
  }
  if (end < text.length) found.push(text.slice(end).replace(HIDDEN, run => `⟨${lengthOf(run)} hidden⟩`))
  return found
}

/** How many characters of a text a reader would not see. */
export function hiddenCount (text: string): number {
  let count = 0
  for (const [run] of text.matchAll(HIDDEN)) count += lengthOf(run)
  return count
}

function describe (run: string): HiddenRun {
  const codes: string[] = []
  for (const character of run) {
    if (codes.length === MAX_DRAWN_IN_RUN) break
    codes.push(`U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
  }
  return { codes, more: lengthOf(run) - codes.length }
}

/** In code points. */
const lengthOf = (run: string): number => run.length - (run.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0)

/** The first characters of a text, never cut inside a character. */
export function beginningOf (text: string, max: number): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max)
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut
}

/**
 * The URL if a browser may open it as a page: http or https. Names and passwords before the host only deceive, so those
 * are refused, too.
 */
export function webUrl (text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const web = url.protocol === 'https:' || url.protocol === 'http:'
  return web && url.username === '' && url.password === '' ? url : undefined
}
