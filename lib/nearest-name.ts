/** A longer name is like none: what is compared is at most this square. */
const MAX_LENGTH = 128

/** The most slips that a name is taken to have. */
const MAX_SLIPS = 6

/**
 * The known name that was most likely meant by one with a slip in it; undefined when none is like it. `accept` is asked of names that are like it.
 * Most of ten thousand names are ruled out by their length and letters, without a comparison.
 */
export function nearestName (name: string, known: Iterable<string>, accept: (candidate: string) => boolean = () => true): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const wanted = name.toLowerCase()
  const letters = lettersOf(wanted)
  let nearest: string | undefined
  let least = Math.min(MAX_SLIPS, Math.max(1, Math.floor(name.length / 3))) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue
    const given = candidate.toLowerCase()
    // A slip adds at most one letter and takes at most one away.
    if (bitsIn(lettersOf(given) ^ letters) > 2 * (least - 1)) continue
    const distance = editDistance(wanted, given, least)
    if (distance < least && accept(candidate)) [nearest, least] = [candidate, distance]
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

/** How many letters have to be added, left out, replaced or swapped with their neighbour; `enough` or more where it is not less. */
function editDistance (one: string, other: string, enough: number): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? (before[j - 2] as number) + 1 : Infinity
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same, swapped))
    }
    if (Math.min(...next) >= enough && Math.min(...row) >= enough) return enough
    ;[before, row] = [row, next]
  }
  return row[other.length] as number
}
