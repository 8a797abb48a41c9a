import { Turns } from '../../lib/turns.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Entry } from '../lists/reading/kinds.js'

/** A run of characters of names: nothing of it is looked at twice, however long it is. */
const RUN = /[A-Za-z][\w-]*/g
const SHORTEST = 6

/** The servers that have a tool of a name, by the name that each gives it and by that behind its alias. */
export type OwnersOfNames = ReadonlyMap<string, ReadonlySet<string>>

/** Finds which servers have a tool of which name, so that `findOtherTools` can tell their names from other words. */
export async function ownersOf (
  names: Iterable<readonly [alias: string, tools: Iterable<string>]>
): Promise<OwnersOfNames> {
  const owners = new Map<string, Set<string>>()
  const turns = new Turns()
  for (const [alias, tools] of names) {
    for (const tool of tools) {
      for (const name of [tool, `${alias}__${tool}`]) {
        const known = owners.get(name)
        if (known === undefined) owners.set(name, new Set([alias]))
        else known.add(alias)
      }
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
  }
  return owners
}

/** Sentences about tools of other servers alone that a definition names in its texts. */
export function findOtherTools (alias: string, entry: Entry | string, owners: OwnersOfNames): string[] {
  const found = new Set<string>()
  for (const text of textsIn(entry)) {
    for (const [run] of text.matchAll(RUN)) {
      const word = trim(run)
      // Words without `_`, such as `search`, are in any text.
      const others = word.length < SHORTEST || !word.includes('_') ? undefined : owners.get(word)
      if (others !== undefined && !others.has(alias)) {
        found.add(`names ${word}, a tool of ${[...others].sort().join(' and ')}`)
      }
    }
  }
  return [...found]
}

/** A run without the `_` at its end, as in `_create_issue_`. */
function trim (run: string): string {
  let end = run.length
  while (run[end - 1] === '_') end--
  return run.slice(0, end)
}

/** The texts for models: those of the definition itself, and the descriptions in its schemas. */
function textsIn (value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' ? (TEXTS.has(name) ? [inner] : []) : textsIn(inner))
}

const TEXTS = new Set(['title', 'description', 'text'])
