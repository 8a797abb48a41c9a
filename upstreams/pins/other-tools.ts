import { Turns } from '../../lib/turns.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Entry } from '../lists/reading/kinds.js'

/** A word that can be the name of a tool. Words without `_`, such as `search`, are in any text. */
const WORD = /[A-Za-z][A-Za-z0-9-]*(?:_+[A-Za-z0-9-]+)+/g
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
    for (const [word] of text.matchAll(WORD)) {
      const others = word.length < SHORTEST ? undefined : owners.get(word)
      if (others !== undefined && !others.has(alias)) {
        found.add(`names ${word}, a tool of ${[...others].sort().join(' and ')}`)
      }
    }
  }
  return [...found]
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
