import { createHash } from 'node:crypto'
import { Turns } from '../../lib/turns.js'
import { canonicalJson, examine, isObject } from '../../protocol/wire/json.js'
import { LIMITS } from '../../protocol/wire/limits.js'
import { ALL_KINDS, KINDS, type Entry, type Kind } from '../lists/reading/kinds.js'
import { redactor } from '../secrets.js'
import { identityOf, type ServerEntry } from '../server-entry.js'

/** Everything that a server offers, by its own names: what an operator accepts. */
export interface Definitions {
  readonly instructions: string | undefined
  readonly lists: Readonly<Record<Kind, ReadonlyMap<string, Entry>>>
}

/** The accepted definitions of one server, and a hash of what it was then: see `sourceOf`. */
export interface Section extends Definitions { readonly source: string | undefined }

/** The definitions in the lists of a server. */
export function definitionsOf (
  { instructions, lists }: { instructions?: string | undefined, lists: Readonly<Record<Kind, readonly Entry[]>> }
): Definitions {
  const byName = (kind: Kind): ReadonlyMap<string, Entry> =>
    new Map(lists[kind].map(entry => [entry[KINDS[kind].key] as string, entry]))
  return { instructions, lists: mapKinds(byName) }
}

/** A record with a value for each kind of list. */
export function mapKinds<T> (valueOf: (kind: Kind) => T): Record<Kind, T> {
  return {
    tools: valueOf('tools'),
    prompts: valueOf('prompts'),
    resources: valueOf('resources'),
    templates: valueOf('templates'),
    skills: valueOf('skills')
  }
}

/** Settles to a hash of definitions: of equal ones it is equal, whatever their order and that of their members. */
export async function fingerprintOf (definitions: Definitions): Promise<string> {
  const hash = createHash('sha256').update(canonicalJson([definitions.instructions ?? null]))
  const turns = new Turns()
  for (const kind of ALL_KINDS) {
    for (const [name, entry] of sortEntries(definitions.lists[kind])) {
      hash.update(`\n${canonicalJson([kind, name, entry])}`)
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
  }
  return hash.digest('hex').slice(0, 32)
}

/** Settles to a section as plain JSON, with all names sorted; kinds of which there is nothing are absent. */
export async function plainOf ({ source, instructions, lists }: Section): Promise<Record<string, unknown>> {
  const turns = new Turns()
  const plain: Record<string, unknown> = {
    ...(source !== undefined && { source }),
    ...(instructions !== undefined && { instructions })
  }
  for (const kind of ALL_KINDS) {
    const entries: Array<[string, unknown]> = []
    for (const [name, entry] of sortEntries(lists[kind])) {
      entries.push([name, JSON.parse(canonicalJson(entry))])
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
    if (entries.length > 0) plain[kind] = Object.fromEntries(entries)
  }
  return plain
}

/**
 * Settles to a section of plain JSON, in which maps may stand for objects. Rejects with a sentence about what is wrong,
 * which begins with its place.
 */
export async function sectionOf (plain: unknown, place: string): Promise<Section> {
  if (!isObject(plain)) throw new Error(`${place} must be an object`)
  const { source, instructions, ...rest } = plain
  for (const [name, text] of Object.entries({ source, instructions })) {
    if (text !== undefined && typeof text !== 'string') throw new Error(`${place}.${name} must be a text`)
  }
  const odd = Object.keys(rest).find(name => !(ALL_KINDS as readonly string[]).includes(name))
  if (odd !== undefined) throw new Error(`${place} has "${odd}", and only source, instructions, ${ALL_KINDS.join(', ')} belong there`)
  const turns = new Turns()
  const lists = mapKinds((): Map<string, Entry> => new Map())
  for (const kind of ALL_KINDS) {
    const entries = rest[kind] ?? {}
    if (!isObject(entries)) throw new Error(`${place}.${kind} must be an object with a definition for each name`)
    const named = entries instanceof Map ? entries as ReadonlyMap<string, unknown> : Object.entries(entries)
    for (const [name, entry] of named) {
      lists[kind].set(name, checkEntry(kind, name, entry, `${place}.${kind}`))
      const pause = turns.pause()
      if (pause !== undefined) await pause
    }
  }
  return { source: source as string | undefined, instructions: instructions as string | undefined, lists }
}

/**
 * A hash of the program and its arguments, or of the URL, without secrets: by it, the accepted definitions of a server
 * are found when its alias is another.
 */
export function sourceOf (entry: ServerEntry): string {
  const { address } = entry
  const redact = redactor(entry)
  return identityOf({
    address: address.kind === 'stdio'
      ? { ...address, args: address.args.map(redact), cwd: undefined }
      : { ...address, url: address.url }
  }, '')
}

const sortEntries = <T>(entries: ReadonlyMap<string, T>): Array<[string, T]> =>
  [...entries].sort(([one], [other]) => one < other ? -1 : 1)

function checkEntry (kind: Kind, name: string, entry: unknown, place: string): Entry {
  const { key } = KINDS[kind]
  if (!isObject(entry) || entry[key] !== name) {
    throw new Error(`${place} has "${name}", which must be an object whose ${key} is "${name}"`)
  }
  try {
    examine(entry, { ...LIMITS, maxKeys: Infinity, allowsUnsafeKeys: true })
  } catch {
    throw new Error(`${place} has "${name}", which is nested too deeply`)
  }
  return entry
}
