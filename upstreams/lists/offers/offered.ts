import { isDeepStrictEqual } from 'node:util'
import { overrideTool } from '../../../protocol/definitions/overrides/override-tool.js'
import type { ToolOverride } from '../../../protocol/definitions/overrides/override.js'
import type { Prompt } from '../../../protocol/definitions/prompt.js'
import type { Resource } from '../../../protocol/definitions/resource.js'
import type { Skill } from '../../../protocol/definitions/skill.js'
import type { Tool } from '../../../protocol/definitions/tool.js'
import { Slices } from '../../../lib/slices.js'
import { fitsGlob } from '../../../lib/glob.js'
import type { ServerEntry } from '../../server-entry.js'
import { relayedPrompt, relayedTool, type Origin } from './definitions.js'
import { isSignInEntry } from '../of-callers.js'
import { KINDS, type Entry, type Kind } from '../reading/kinds.js'
import { repairEntry } from '../repair/entry.js'
import type { Offer } from './merged-list.js'
import { prefixesOf, publicNames, type PublicName } from './names.js'
import { shownPages, withPages } from './pages.js'
import { renameTools } from './renamed.js'
import { relayedResource, relayedTemplate } from './resource-definitions.js'
import { relayedSkill } from './skill-definitions.js'

/** The definition of each kind of list. */
export interface Definitions { tools: Tool, prompts: Prompt, resources: Resource, templates: Resource, skills: Skill }

/**
 * One entry of an upstream as it is offered to all clients, and under its own name to those of the upstream's view.
 * `changes` says what was repaired in it.
 */
export interface Offered<T> {
  readonly entry: Entry
  readonly name: PublicName
  readonly override: ToolOverride | undefined
  readonly changes: readonly string[]
  readonly hasTasks: boolean | undefined
  /** Where clients find the pages that a tool names. */
  readonly pages: string
  readonly offer: Offer<T>
  readonly bare: T
}

/** The offers, by the upstream's own names, and why the others are not. */
export interface Offering<T> {
  readonly offered: ReadonlyMap<string, Offered<T>>
  readonly leftOut: ReadonlyMap<string, LeftOutEntry>
  /** Sentences about names that two of them would have. */
  readonly clashes: readonly string[]
}

/** An entry that clients do not get, and the name that it would have. */
export interface LeftOutEntry { readonly name: PublicName, readonly why: string }

type Make = {
  [K in Kind]: (
    origin: Origin,
    entry: Entry,
    listed: Entry,
    name: PublicName,
    override: ToolOverride | undefined
  ) => Pick<Offered<Definitions[K]>, 'offer' | 'bare'>
}

/**
 * Makes the offers of an upstream of one kind. Definitions of entries that did not change are those of `former`. Many
 * are made over several turns. `held` has why others are held back, by the upstream's own names.
 */
export async function makeOffers<K extends Kind> (
  kind: K,
  origin: Origin,
  entries: readonly Entry[],
  server: ServerEntry,
  former: ReadonlyMap<string, Offered<Definitions[K]>>,
  held: ReadonlyMap<string, string>
): Promise<Offering<Definitions[K]>> {
  const { key } = KINDS[kind]
  const isShown = (entry: Entry): boolean => isSignInEntry(entry) || isServed(entry.name as string, server)
  const served = kind === 'tools' ? entries.filter(isShown) : entries
  const names = served.map(entry => entry[key] as string)
  const overrides = kind === 'tools' ? server.override : undefined
  const prefixes = prefixesOf(server)
  const { names: named, clashes } =
    kind === 'tools' || kind === 'prompts'
      ? renameTools(publicNames(prefixes, names), prefixes, overrides)
      : { clashes: [] }
  const offered = new Map<string, Offered<Definitions[K]>>()
  const leftOut = new Map<string, LeftOutEntry>()
  for (const [own, why] of kind === 'tools' ? held : []) {
    const name = publicNames(prefixes, [own]).get(own)
    if (name !== undefined && isServed(own, server)) leftOut.set(own, { name, why })
  }
  const slices = new Slices()
  for (const entry of served) {
    const own = entry[key] as string
    const name = named === undefined ? { name: own, spellings: [] } : named.get(own)
    if (name === undefined) continue
    const known = former.get(own)
    const override = overrides !== undefined && Object.hasOwn(overrides, own) ? overrides[own] : undefined
    const isSame = known !== undefined && known.hasTasks === origin.hasTasks && isDeepStrictEqual(known.name, name) &&
      isDeepStrictEqual(known.override, override) && isDeepStrictEqual(known.entry, entry) &&
      known.pages === pagesOf(kind, origin, entry)
    if (isSame) offered.set(own, known)
    else {
      const made = makeOffer(kind, origin, entry, server, name, override)
      if (typeof made === 'string') leftOut.set(own, { name, why: made })
      else offered.set(own, made)
    }
    const pause = slices.spend(isSame ? own.length : sizeOf(entry))
    if (pause !== undefined) await pause
  }
  return { offered, leftOut, clashes }
}

/** The offer of one entry, or why clients do not get it. */
function makeOffer<K extends Kind> (
  kind: K,
  origin: Origin,
  entry: Entry,
  server: ServerEntry,
  name: PublicName,
  override: ToolOverride | undefined
): Offered<Definitions[K]> | string {
  const repaired = repairEntry(kind, entry, server.schemas)
  if (typeof repaired === 'string') return repaired
  try {
    const made = MAKE[kind](origin, entry, repaired.entry, name, override)
    const { hasTasks } = origin
    const pages = pagesOf(kind, origin, entry)
    return { entry, name, override, changes: repaired.changes, hasTasks, pages, ...made }
  } catch (error) {
    return `it cannot be shown as its entry demands: ${(error as Error).message}`
  }
}

const pagesOf = (kind: Kind, origin: Origin, entry: Entry): string =>
  kind === 'tools' ? shownPages(origin, entry) : ''

/** How much work it is to look into an entry: about its characters of JSON. */
function sizeOf (value: unknown): number {
  if (typeof value !== 'object' || value === null) return VALUE
  let size = VALUE
  for (const key in value) size += sizeOf((value as Record<string, unknown>)[key])
  return size
}

/** The characters that a value counts for. 10,000 of them are repaired in about 10 ms. */
const VALUE = 24

/** The entry's globs, on the names that the upstream gave. */
export function isServed (
  name: string,
  { includeTools, excludeTools }: Pick<ServerEntry, 'includeTools' | 'excludeTools'>
): boolean {
  return (
    (includeTools.length === 0 || includeTools.some(glob => fitsGlob(glob, name))) &&
    !excludeTools.some(glob => fitsGlob(glob, name))
  )
}

function bareName (
  entry: Entry,
  { name, spellings, accessName = name, scopeNames = [name, ...spellings], ownName }: PublicName
): PublicName {
  const own = entry.name as string
  return ownName === undefined
    ? { name: own, spellings: [], accessName, scopeNames }
    : { name: ownName, spellings: [own], accessName, scopeNames, ownName }
}

function offeredTool (
  origin: Origin,
  entry: Entry,
  listed: Entry,
  name: PublicName,
  override: ToolOverride | undefined
): Tool {
  const tool = relayedTool(origin, entry, listed, name)
  return override === undefined ? tool : overrideTool(tool, override)
}

const MAKE: Make = {
  tools: (origin, entry, listed, name, override) => ({
    offer: { key: name.name, item: offeredTool(origin, entry, withPages(origin, listed), name, override) },
    bare: offeredTool(origin, entry, listed, bareName(entry, name), override)
  }),
  prompts: (origin, _entry, entry, name) => ({
    offer: { key: name.name, item: relayedPrompt(origin, entry, name) },
    bare: relayedPrompt(origin, entry, bareName(entry, name))
  }),
  resources: (origin, _entry, entry, { name }) => {
    const item = relayedResource(origin, entry, false)
    return { offer: { key: name, item, alternate: relayedResource(origin, entry, true) }, bare: item }
  },
  templates: (origin, _entry, entry, { name }) => {
    const item = relayedTemplate(origin, entry, false)
    return { offer: { key: name, item, alternate: relayedTemplate(origin, entry, true) }, bare: item }
  },
  skills: (origin, entry, _listed, { name }) => {
    const item = relayedSkill(origin, entry, false)
    return { offer: { key: name, item, alternate: relayedSkill(origin, entry, true) }, bare: item }
  }
}
