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
  const full = new Map([...names].map(name => [name, prefix + name]))
  const clashing = repeated([...full.values()].map(cleanName))
  const chosen = new Map([...full].map(([name, whole]) => [name, choose(whole, clashing)]))
  const taken = repeated(chosen.values())
  const spellings = [...full].map(([name, whole]) => [name, new Set([whole, cleanName(whole)])] as const)
  const ambiguous = repeated(spellings.flatMap(([, all]) => [...all]))
  const result = new Map<string, PublicName>()
  for (const [name, all] of spellings) {
    const own = chosen.get(name) as string
    if (own === full.get(name) || !taken.has(own)) result.set(name, { name: own, spellings: [...all].filter(spelling => spelling !== own && !ambiguous.has(spelling)) })
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
function choose (whole: string, clashing: ReadonlySet<string>): string {
  const clean = cleanName(whole)
  return clean.length > MAX_NAME || (clean !== whole && clashing.has(clean)) ? hashedName(whole) : clean
}

const cleanName = (name: string): string => name.replace(/[^A-Za-z0-9_-]/gu, '_')

function repeated (texts: Iterable<string>): Set<string> {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const text of texts) (seen.has(text) ? again : seen).add(text)
  return again
}
