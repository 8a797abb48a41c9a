import { createHash } from 'node:crypto'
import { folderOf, isBelow, type SkillFile } from '../../../protocol/definitions/skill.js'
import type { UriTemplate } from '../../../protocol/definitions/uri-template.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Entry } from '../reading/kinds.js'
import type { Offerable } from '../snapshot.js'
import { parseTemplate, templateIn } from './resource-definitions.js'

/** True for a URI that clients could read by an entry which is held back, and by none that they get. */
export function isHeldBack ({ snapshot: { lists }, heldBack }: Offerable, uri: string): boolean {
  if (heldBack.resources.has(uri) || isInHeldSkill(heldBack.skills, uri)) return true
  if (!heldTemplates(heldBack.templates).some(template => template.match(uri) !== undefined)) return false
  return !lists.templates.some(entry => templateIn(entry)?.match(uri) !== undefined)
}

/**
 * Finds why clients must not get the contents that a server sent for a URI, where that is of a skill: it was not
 * accepted, or the bytes are others than those that were. Undefined where nothing is wrong.
 */
export function mistakeOfContents (
  { snapshot: { lists: { skills } }, heldBack }: Offerable,
  uri: string,
  contents: unknown
): string | undefined {
  if (isInHeldSkill(heldBack.skills, uri)) return 'its skill is held back'
  const skill = skills.find(skill => isOf(skill.uri as string, uri))
  if (skill === undefined || !Array.isArray(contents)) return undefined
  const file = filesOf(skill).get(uri)
  if (file === undefined) return 'it was not accepted as a file of its skill'
  return contents.every(part => isObject(part) && digestOf(part) === file.digest)
    ? undefined
    : 'its bytes are not those that were accepted'
}

const isInHeldSkill = (held: ReadonlyMap<string, string>, uri: string): boolean =>
  held.size > 0 && [...held.keys()].some(skill => isOf(skill, uri))

const isOf = (skill: string, uri: string): boolean => isBelow(folderOf(skill), uri)

const files = new WeakMap<Entry, ReadonlyMap<string, SkillFile>>()

/** Made once for each entry: a skill has up to hundreds of files. */
function filesOf (skill: Entry): ReadonlyMap<string, SkillFile> {
  const list = Array.isArray(skill.resources) ? skill.resources as SkillFile[] : []
  const known = files.get(skill) ?? new Map(list.map(file => [file.uri, file]))
  files.set(skill, known)
  return known
}

function digestOf ({ text, blob }: Record<string, unknown>): string | undefined {
  if ((typeof text === 'string') === (typeof blob === 'string')) return undefined
  const bytes = typeof text === 'string' ? text : Buffer.from(String(blob), 'base64')
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

const templates = new WeakMap<object, readonly UriTemplate[]>()

/** Parsed once for all that are held back together. */
function heldTemplates (held: ReadonlyMap<string, string>): readonly UriTemplate[] {
  const known = templates.get(held) ?? [...held.keys()].map(parseTemplate).filter(each => each !== undefined)
  templates.set(held, known)
  return known
}
