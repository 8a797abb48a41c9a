/** A longer name is like none. */
const MAX_LENGTH = 128

/** The most slips that a name is taken to have. */
const MAX_SLIPS = 6

/** The most pairs of letters that are compared for one name: a few milliseconds, however many names are known. */
const MAX_WORK = 400_000

/**
 * The known name that was most likely meant by one with a slip in it; undefined when none is like it. `accept` is asked
 * of names that are like it. Most of ten thousand names are ruled out by their length and letters, without a
 * comparison; the comparisons together are bounded, so that of very many that are alike the last ones are not looked
 * at.
 */
export function nearestName (
  name: string,
  known: Iterable<string>,
  accept: (candidate: string) => boolean = () => true
): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const wanted = name.toLowerCase()
  const letters = lettersOf(wanted)
  const comparison = new Comparison(wanted)
  let nearest: string | undefined
  let least = Math.min(MAX_SLIPS, Math.max(1, Math.floor(name.length / 3))) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    const given = candidate.toLowerCase()
    // A slip adds at most one letter and takes at most one away.
    if (bitsIn(lettersOf(given) ^ letters) > 2 * (least - 1)) continue
    const distance = comparison.distance(given, least)
    if (distance < least && accept(candidate)) [nearest, least] = [candidate, distance]
    if (comparison.work > MAX_WORK) break
  }
  return nearest
}

/** A bit for each letter that a name has; letters far apart in Unicode may share one. */
function lettersOf (name: string): number {
  let letters = 0
  for (let at = 0; at < name.length; at++) letters |= 1 << (name.charCodeAt(at) & 31)
  return letters
}

function bitsIn (number: number): number {
  let bits = 0
  for (let rest = number; rest !== 0; rest &= rest - 1) bits++
  return bits
}

/** "; did you mean ...?", or nothing. */
export function didYouMean (name: string, known: Iterable<string>, accept?: (candidate: string) => boolean): string {
  const nearest = nearestName(name, known, accept)
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`
}

/** Counts the slips between one name and others. */
class Comparison {
  /** The pairs of letters that were compared so far. */
  work = 0
  readonly #name: string
  /** The last three rows of the table of distances between beginnings; the first is written over next. */
  readonly #rows: [Uint16Array, Uint16Array, Uint16Array]

  constructor (name: string) {
    this.#name = name
    const width = name.length + MAX_SLIPS + 2
    this.#rows = [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)]
  }

  /**
   * How many letters have to be added, left out, replaced or swapped with their neighbour; `enough` where it is not
   * less.
   */
  distance (other: string, enough: number): number {
    const name = this.#name
    const shorter = Math.min(name.length, other.length)
    let start = 0
    while (start < shorter && name.charCodeAt(start) === other.charCodeAt(start)) start++
    let end = 0
    while (
      end < shorter - start &&
      name.charCodeAt(name.length - 1 - end) === other.charCodeAt(other.length - 1 - end)
    ) {
      end++
    }
    this.work += start + end
    const [height, width] = [name.length - start - end, other.length - start - end]
    let [before, above, row] = this.#rows
    for (let j = 0; j <= width; j++) above[j] = j
    for (let i = 1; i <= height; i++) {
      // Beginnings whose lengths are further apart than `enough` have as many slips.
      const [first, last] = [Math.max(1, i - enough), Math.min(width, i + enough)]
      const letter = name.charCodeAt(start + i - 1)
      row[first - 1] = first === 1 ? i : enough
      let least = row[first - 1] as number
      for (let j = first; j <= last; j++) {
        const given = other.charCodeAt(start + j - 1)
        let slips = (above[j - 1] as number) + (letter === given ? 0 : 1)
        slips = Math.min(slips, (row[j - 1] as number) + 1, j < i + enough ? (above[j] as number) + 1 : enough)
        const swapped =
          i > 1 && j > 1 && letter === other.charCodeAt(start + j - 2) && given === name.charCodeAt(start + i - 2)
        if (swapped) slips = Math.min(slips, (before[j - 2] as number) + 1)
        row[j] = slips
        if (slips < least) least = slips
      }
      this.work += last - first + 1
      // A swap reaches back two rows, and is one slip more than what it reaches back to.
      if (least >= enough) return enough
      ;[before, above, row] = [above, row, before]
    }
    return Math.min(enough, above[width] as number)
  }
}
