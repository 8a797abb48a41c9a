import {
  childrenIn,
  folderOf,
  isBelow,
  mistakeOfEntry,
  type FolderChild,
  type RelayFolder,
  type Skill,
  type SkillEntry,
  type SkillFile
} from '../../../protocol/definitions/skill.js'
import { codes, errors, isMcpError } from '../../../protocol/wire/errors.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Entry } from '../reading/kinds.js'
import type { Origin } from './definitions.js'
import { qualifyUri, relayedResource } from './resource-definitions.js'

/**
 * A skill of an upstream, under its own URIs or, when `qualified`, with the alias before all of them; the digests are
 * of bytes, and stay. `entry` is as the upstream listed it, and was checked.
 */
export function relayedSkill (origin: Origin, entry: Entry, qualified: boolean): Skill {
  const original = entry as unknown as SkillEntry
  const prefix = qualifyUri(origin.alias, '')
  const start = qualified ? prefix : ''
  const listed = withStart(original, start)
  const { uri, resources } = listed
  const ownFiles = original.resources === 'dynamic' ? undefined : new Set(original.resources.map(file => file.uri))
  const folder = folderOf(original.uri)
  const ownUri = (asked: string): string => asked.startsWith(prefix) ? asked.slice(prefix.length) : asked
  const { frontmatter: { name, description } } = original
  return {
    kind: 'skill',
    uri,
    listed,
    upstream: origin.alias,
    rank: () => origin.rank,
    spellings: qualified ? [] : [prefix + original.uri],
    has: asked => ownFiles?.has(ownUri(asked)) ?? isBelow(folder, ownUri(asked)),
    childrenOf: asked => {
      if (resources === 'dynamic') return undefined
      return childrenIn(resources, [folderOf(uri)], qualified ? asked : ownUri(asked))
    },
    relayFolder: original.resources === 'dynamic' ? folderReading(origin, start, ownUri) : undefined,
    resource: {
      ...relayedResource(origin, { uri: original.uri, name, description, mimeType: 'text/markdown' }, qualified),
      ...readingOf(origin, ownUri)
    },
    relay: async (params, call) => {
      if (origin.isHeld) return { skill: listed }
      const result = await origin.relay('skills/get', { ...params, uri: original.uri }, call)
      const { skill } = result
      return isObject(skill) ? { ...result, skill: withStart(skill as unknown as SkillEntry, start) } : result
    }
  }
}

/**
 * A skill that an upstream does not list, or that is not there: only the upstream knows. `uri` is its own; clients see
 * it, when `qualified`, with the alias before it. A caller who gets the skill may read its files.
 */
export function unlistedSkill (origin: Origin, uri: string, qualified: boolean): Skill {
  const name = folderOf(uri).split('/').at(-1) ?? ''
  const skill = relayedSkill(origin, { uri, frontmatter: { name, description: '' }, resources: 'dynamic' }, qualified)
  const start = qualified ? qualifyUri(origin.alias, '') : ''
  return {
    ...skill,
    relay: async (params, call) => {
      const result = await origin.relay('skills/get', { ...params, uri }, call)
      const mistake = isObject(result.skill) ? mistakeOfEntry(result.skill) : 'it is no skill'
      if (mistake !== undefined) throw errors.upstreamFailed(origin.alias, `it answered with a broken skill: ${mistake}`)
      const entry = result.skill as unknown as SkillEntry
      if (entry.uri !== uri) throw errors.upstreamFailed(origin.alias, 'it answered with another skill')
      origin.noteUris(call, entry.resources === 'dynamic' ? [uri] : entry.resources.map(file => file.uri))
      return { ...result, skill: withStart(entry, start) }
    }
  }
}

/** Asks the upstream for the children of a folder; what it adds from elsewhere is left out. */
function folderReading (origin: Origin, start: string, ownUri: (uri: string) => string): RelayFolder {
  return async (asked, cursor, call) => {
    if (origin.isHeld) return undefined
    const uri = ownUri(asked)
    const params = { uri, ...(cursor !== undefined && { cursor }) }
    const { resources, nextCursor } = await origin.relay('resources/directory/read', params, call).catch(withoutFolders)
    if (!Array.isArray(resources)) return undefined
    const children = (resources as unknown[]).filter((child): child is FolderChild =>
      isObject(child) && typeof child.uri === 'string' && typeof child.name === 'string' && isBelow(uri, child.uri))
    return {
      children: children.map(child => ({ ...child, uri: start + child.uri })),
      ...(typeof nextCursor === 'string' && { nextCursor })
    }
  }
}

/** A server need not know the method. */
function withoutFolders (error: unknown): Record<string, unknown> {
  if (isMcpError(error) && error.code === codes.methodNotFound) return {}
  throw error
}

/** Each file is read at the upstream by its own URI. */
function readingOf (origin: Origin, ownUri: (uri: string) => string): Pick<Skill['resource'], 'relay' | 'relayWatch'> {
  return {
    relay: async (params, call) =>
      await origin.relay('resources/read', { ...params, uri: ownUri(String(params.uri)) }, call),
    relayWatch: async (uri, changed, identity) => await origin.watch(ownUri(uri), changed, identity)
  }
}

/** The entry with this text before each of its URIs. */
function withStart (entry: SkillEntry, start: string): Skill['listed'] {
  if (start === '') return { ...entry }
  const { uri, resources } = entry
  const files: unknown = resources
  return {
    ...entry,
    uri: start + uri,
    resources: Array.isArray(files)
      ? files.map((file: SkillFile) => isObject(file) ? { ...file, uri: start + file.uri } : file)
      : resources
  }
}
