import { ToolError } from '../../../protocol/wire/mcp-error.js'

/** The longest query, in characters. */
export const MAX_QUERY = 2_000

/** The most hits of one query. */
export const MAX_HITS = 100

/** Texts of tools, as the ranker reads them: each tool has a slot, a small whole number. */
export interface RankedTexts {
  /** The terms of a query, made as those of the tools were. */
  readonly termsOf: (query: string) => string[]
  readonly postings: ReadonlyMap<string, Posting>
  /** Keys by slot, which are canonical names in most cases; undefined for a slot that is free. */
  readonly names: ReadonlyArray<string | undefined>
  /** The sum of what all terms of a tool count, by slot. */
  readonly lengths: readonly number[]
  /** The number of tools. */
  readonly count: number
  /** The sum of their lengths. */
  readonly totalLength: number
  /** The slots of the tools with this canonical, listed or bare name, which is in small letters. */
  readonly slotsOf: (name: string) => readonly number[]
  /** How much a term counts that a description has once. */
  readonly unit: number
}

/** The tools that have a term: their slots, and how much it counts in each. */
export interface Posting { readonly slots: number[], readonly counts: number[] }

interface Hit { readonly name: string, readonly score: number }

// The usual constants of Okapi BM25.
const SATURATION = 1.2
const LENGTH_SHARE = 0.75

const BETWEEN_WORDS = /[\s"'`,;:?!()]+/
/** Is in words that are written like names of tools, and not in those of a sentence. */
const IN_NAMES = /[-_./]/

/** Scores by slot, all 0 between two queries, each of which runs in one turn of the event loop. */
let scores = new Float64Array(0)

/**
 * Finds the keys of the tools that fit a query best, by Okapi BM25. A tool whose name is in the query comes
 * first, whatever the scores; equal scores go by name, so equal lists give equal rankings on every node. Tools that
 * `accepts` refuses do not count towards the limit. Throws a `ToolError` for a query that is too long.
 */
export function rank (texts: RankedTexts, query: string, limit: number, accepts: (name: string) => boolean): string[] {
  if (query.length > MAX_QUERY) {
    throw new ToolError(
      `the query has ${query.length} characters, and ${MAX_QUERY} are allowed: say in a few words what the tool should do`
    )
  }
  const most = Math.min(limit, MAX_HITS)
  const named = findNamed(texts, query).filter(accepts).slice(0, most)
  const touched = addScores(texts, new Set(texts.termsOf(query)))
  try {
    return [...named, ...best(texts, touched, most - named.length, name => !named.includes(name) && accepts(name))]
  } finally {
    for (const slot of touched) scores[slot] = 0
  }
}

/** Tools whose name is the whole query, or a word of it that is written like a name. */
function findNamed (texts: RankedTexts, query: string): string[] {
  const words = new Set(query.toLowerCase().split(BETWEEN_WORDS).filter(word => word !== ''))
  const named = new Set<string>()
  for (const word of words) {
    if (words.size > 1 && !IN_NAMES.test(word)) continue
    const names = texts.slotsOf(word.endsWith('.') ? word.slice(0, -1) : word).flatMap(slot => texts.names[slot] ?? [])
    // The tool with this very name stands before those of servers that call one of theirs so.
    const rest = (name: string): number => name.length - word.length
    for (const name of names.sort((a, b) => rest(a) - rest(b) || compare(a, b))) named.add(name)
  }
  return [...named]
}

/** Sums up the scores of all tools that have one of the terms, and returns their slots. */
function addScores ({ postings, lengths, count, totalLength, unit }: RankedTexts, terms: Set<string>): number[] {
  if (scores.length < lengths.length) scores = new Float64Array(lengths.length * 2)
  const touched: number[] = []
  const fixed = unit * SATURATION * (1 - LENGTH_SHARE)
  const perLength = unit * SATURATION * LENGTH_SHARE * count / Math.max(totalLength, 1)
  for (const term of terms) {
    const posting = postings.get(term)
    if (posting === undefined) continue
    const { slots, counts } = posting
    const rarity = Math.log(1 + (count - slots.length + 0.5) / (slots.length + 0.5))
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at] as number
      const times = counts[at] as number
      const before = scores[slot] as number
      if (before === 0) touched.push(slot)
      scores[slot] = before + rarity * times / (times + fixed + perLength * (lengths[slot] as number))
    }
  }
  return touched
}

/** The best of the slots, in order. Asks `accepts` only about tools that are better than the last one so far. */
function best ({ names }: RankedTexts, touched: number[], most: number, accepts: (name: string) => boolean): string[] {
  const hits: Hit[] = []
  if (!(most > 0)) return []
  for (const slot of touched) {
    const score = scores[slot] as number
    const last = hits.length < most ? undefined : hits.at(-1)
    if (last !== undefined && score < last.score) continue
    const hit = { name: names[slot] ?? '', score }
    if ((last !== undefined && isBetter(last, hit)) || !accepts(hit.name)) continue
    let at = hits.length
    while (at > 0 && isBetter(hit, hits[at - 1] as Hit)) at--
    hits.splice(at, 0, hit)
    if (hits.length > most) hits.pop()
  }
  return hits.map(({ name }) => name)
}

const isBetter = (a: Hit, b: Hit): boolean => a.score > b.score || (a.score === b.score && compare(a.name, b.name) < 0)

/** By UTF-16 code units, which no locale changes. */
const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0
