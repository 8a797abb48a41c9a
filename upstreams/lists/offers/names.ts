import { createHash } from 'node:crypto'

/** 64, which most models and clients allow, less `mcp__patchbay__`, which clients put before it. */
export const MAX_NAME = 49
const HASH = 6

/** How a tool or prompt of an upstream is listed, and the other names under which it can be called. */
export interface PublicName {
  readonly name: string
  readonly spellings: readonly string[]
  /** The name that operators use, where it is another. */
  readonly accessName?: string
}

/**
 * The names of one upstream with its prefix, by the names it gave. They have at most 49 of A-Z a-z 0-9 _ -, and depend on nothing but the
 * prefix and the names. A name is absent when even its hash is that of another.
 */
export function publicNames (prefix: string, names: Iterable<string>): Map<string, PublicName> {
  const all = [...names].map(name => ({ name, whole: prefix + name, clean: cleanName(prefix + name) }))
  const clashing = repeated(all.map(({ clean }) => clean))
  const chosen = all.map(({ whole, clean }) => choose(whole, clean, clashing))
  const taken = repeated(chosen)
  const ambiguous = repeated(all.flatMap(({ whole, clean }) => whole === clean ? whole : [whole, clean]))
  const result = new Map<string, PublicName>()
  for (const [index, { name, whole, clean }] of all.entries()) {
    const own = chosen[index] as string
    if (own === whole) result.set(name, { name: own, spellings: NONE })
    else if (!taken.has(own)) result.set(name, { name: own, spellings: [...new Set([whole, clean])].filter(spelling => spelling !== own && !ambiguous.has(spelling)) })
  }
  return result
}

/** A name that is as short as it must be, made unlike all others of its kind by a hash of the whole. */
export function hashedName (whole: string): string {
  const digest = createHash('sha256').update(whole).digest()
  const hash = digest.readUIntBE(0, HASH).toString(36).padStart(HASH, '0').slice(-HASH)
  return `${cleanName(whole).slice(0, MAX_NAME - HASH - 1)}_${hash}`
}

// A name that needed no cleaning keeps it: only the others give way, whatever order they come in.
function choose (whole: string, clean: string, clashing: ReadonlySet<string>): string {
  return clean.length > MAX_NAME || (clean !== whole && clashing.has(clean)) ? hashedName(whole) : clean
}

const NONE: readonly string[] = []

const cleanName = (name: string): string => ILLEGAL.test(name) ? name.replace(/[^A-Za-z0-9_-]/gu, '_') : name

const ILLEGAL = /[^A-Za-z0-9_-]/

function repeated (texts: Iterable<string>): Set<string> {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const text of texts) (seen.has(text) ? again : seen).add(text)
  return again
}
