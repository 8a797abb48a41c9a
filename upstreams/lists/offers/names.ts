import { createHash } from 'node:crypto'
import type { ServerEntry } from '../../server-entry.js'

/** 64, which most models and clients allow, less `mcp__patchbay__`, which clients put before it. */
export const MAX_NAME = 49
const HASH = 6
/** The longest alias that is never shortened. */
const LONG_ALIAS = 20
/** How much of a longer one is kept before its hash. */
const ALIAS_HEAD = 10

/** How a tool or prompt of an upstream is listed, and the other names under which it can be called. */
export interface PublicName {
  readonly name: string
  readonly spellings: readonly string[]
  /** The name that operators use, where it is another. */
  readonly accessName?: string
  /** The names that they use for its scopes, where these are not the ones above. */
  readonly scopeNames?: readonly string[]
  /** The name without the prefix, where that is not the one that the upstream gave. */
  readonly ownName?: string
}

/** The text before the names of an upstream. */
export interface Prefixes {
  readonly whole: string
  /**
   * Stands there instead before names that would be too long, so that more of them is left; the same where nothing is
   * gained.
   */
  readonly short: string
}

/** The prefixes of an upstream: those that its entry sets, or its alias. */
export function prefixesOf ({ alias, prefix }: Pick<ServerEntry, 'alias' | 'prefix'>): Prefixes {
  return prefix === undefined
    ? { whole: `${alias}__`, short: `${shortAlias(alias)}__` }
    : { whole: prefix, short: prefix }
}

/** The alias, as it stands before names that would be too long. Depends on the alias alone. */
export function shortAlias (alias: string): string {
  return alias.length <= LONG_ALIAS
    ? alias
    : `${alias.slice(0, ALIAS_HEAD).replace(/-+$/, '')}-${createHash('sha256').update(alias).digest('hex').slice(0, HASH)}`
}

/** A sentence for each upstream whose alias leaves few characters to the names of its tools. */
export function adviceOnNames (entries: ReadonlyArray<Pick<ServerEntry, 'alias' | 'prefix'>>): string[] {
  const long = entries.filter(({ alias, prefix }) => prefix === undefined && alias.length > LONG_ALIAS)
  return long.map(
    ({ alias }) =>
      `upstream ${alias}: its name leaves ${MAX_NAME - alias.length - 2} characters to the names of its tools, and is shortened before longer ones; set prefix to something shorter`
  )
}

/**
 * The names of one upstream with its prefix, by the names it gave. They have at most 49 of A-Z a-z 0-9 _ -, and depend
 * on nothing but the prefix and the names. A name is absent when even its hash is that of another.
 */
export function publicNames (prefixes: Prefixes, names: Iterable<string>): Map<string, PublicName> {
  const all = [...names].map(name => ({ name, whole: prefixes.whole + name, clean: cleanName(prefixes.whole + name) }))
  const clashing = findRepeated(all.map(({ clean }) => clean))
  const chosen = all.map(({ whole, clean }) => choose(whole, clean, clashing, prefixes))
  const taken = findRepeated(chosen)
  const ambiguous = findRepeated(all.flatMap(({ whole, clean }) => whole === clean ? whole : [whole, clean]))
  const result = new Map<string, PublicName>()
  for (const [index, { name, whole, clean }] of all.entries()) {
    const own = chosen[index] as string
    if (own === whole) result.set(name, { name: own, spellings: NONE })
    else if (!taken.has(own)) {
      result.set(name, {
        name: own,
        spellings: [...new Set([whole, clean, ...(clean.length > MAX_NAME ? [hashedName(whole)] : [])])].filter(
          spelling => spelling !== own && !ambiguous.has(spelling)
        )
      })
    }
  }
  return result
}

/**
 * A name that is as short as it must be, made unlike all others of its kind by a hash of the whole. `shown` is what is
 * left of it, where that is another text.
 */
export function hashedName (whole: string, shown = whole): string {
  const digest = createHash('sha256').update(whole).digest()
  const hash = digest.readUIntBE(0, HASH).toString(36).padStart(HASH, '0').slice(-HASH)
  return `${cleanName(shown).slice(0, MAX_NAME - HASH - 1)}_${hash}`
}

// A name that needed no cleaning keeps it: only the others give way, whatever order they come in.
function choose (whole: string, clean: string, clashing: ReadonlySet<string>, prefixes: Prefixes): string {
  const gives = clean !== whole && clashing.has(clean)
  if (clean.length <= MAX_NAME) return gives ? hashedName(whole) : clean
  const short = cleanName(prefixes.short + whole.slice(prefixes.whole.length))
  return short.length > MAX_NAME || gives ? hashedName(whole, short) : short
}

const NONE: readonly string[] = []

const cleanName = (name: string): string => ILLEGAL.test(name) ? name.replace(/[^A-Za-z0-9_-]/gu, '_') : name

const ILLEGAL = /[^A-Za-z0-9_-]/

function findRepeated (texts: Iterable<string>): Set<string> {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const text of texts) (seen.has(text) ? again : seen).add(text)
  return again
}
