import { isObject } from '../wire/json.js'
import type { Call } from '../dispatch/call.js'
import type { Relayed } from './common-members.js'
import type { Resource } from './resource.js'

/** The name of the extension of the protocol that skills are. */
export const SKILLS = 'io.modelcontextprotocol/skills'

/** The name of the file that a skill begins with. */
export const SKILL_FILE = 'SKILL.md'

/** How large a skill may be, as the extension has it, and how deeply its folders may be nested. */
export const SKILL_LIMITS = { maxFiles: 512, maxBytes: 16 * 1024 * 1024, maxDepth: 16 } as const

/** The media type of a folder. */
const FOLDER = 'inode/directory'

/** One file of a skill, with the digest and size of the bytes that are read. */
export interface SkillFile { readonly uri: string, readonly digest: string, readonly size: number }

/** A skill as clients get it: `resources` are all of its files, or "dynamic" where its server does not say. */
export interface SkillEntry {
  readonly uri: string
  readonly frontmatter: Readonly<Record<string, unknown>>
  readonly resources: readonly SkillFile[] | 'dynamic'
}

/** A child of a folder of a skill. */
export interface FolderChild {
  readonly uri: string
  readonly name: string
  readonly mimeType?: string
  readonly size?: number
}

/** A skill as the registry keeps it. What `relay` answers is `skills/get`. */
export interface Skill extends Pick<Relayed, 'relay' | 'upstream' | 'rank' | 'spellings'> {
  readonly kind: 'skill'
  /** The URI of its SKILL.md. */
  readonly uri: string
  readonly listed: SkillEntry & Readonly<Record<string, unknown>>
  /** Reads each of its files, with the rights that SKILL.md requires. */
  readonly resource: Resource
  /** True for the URI of one of its files. */
  readonly has: (uri: string) => boolean
  /** Lists the children of a folder in it; undefined where there is no such folder. */
  readonly childrenOf: (uri: string) => readonly FolderChild[] | undefined
  /** Asks its server for a page of the children of a folder, where only that knows them. */
  readonly relayFolder?: RelayFolder | undefined
}

export type RelayFolder =
  (uri: string, cursor: string | undefined, call: Call) => Promise<FolderPage | undefined>

/** A part of the children of a folder, and the cursor of its server for the next one. */
export interface FolderPage { readonly children: readonly FolderChild[], readonly nextCursor?: string | undefined }

/** Finds a skill that no list has, for a caller who may ask its server; only that knows whether there is one. */
export type FindUnlistedSkill = (uri: string, call: Call) => Skill | undefined

/** The URI of the folder that a SKILL.md is in. */
export const folderOf = (uri: string): string => uri.slice(0, -SKILL_FILE.length - 1)

const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_NAME = 64
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** A sentence about frontmatter that no skill in a folder of that name may have; undefined when it fits. */
export function mistakeOfFrontmatter (frontmatter: unknown, folder: string): string | undefined {
  if (!isObject(frontmatter)) return 'its frontmatter is not a list of names and values'
  const { name, description } = frontmatter
  if (typeof name !== 'string' || name.length > MAX_NAME || !NAME.test(name)) {
    return `the "name" in its frontmatter must be 1 to ${MAX_NAME} of a-z 0-9, with single hyphens between them`
  }
  if (name !== folder) {
    return `the "name" in its frontmatter is "${name}", and its folder is called "${folder}"; give both the same name`
  }
  return typeof description === 'string' && description.trim() !== ''
    ? undefined
    : 'its frontmatter needs a "description", which says when to use it'
}

/** A sentence about what is wrong with the entry of a skill that another server lists; undefined when it fits. */
export function mistakeOfEntry (entry: Readonly<Record<string, unknown>>): string | undefined {
  const { uri, frontmatter, resources } = entry
  if (typeof uri !== 'string' || !uri.endsWith(`/${SKILL_FILE}`)) return `its "uri" does not end in /${SKILL_FILE}`
  const folder = folderOf(uri)
  const wrong = mistakeOfFrontmatter(frontmatter, folder.slice(folder.lastIndexOf('/') + 1))
  if (wrong !== undefined || resources === 'dynamic') return wrong
  if (!Array.isArray(resources)) return 'its "resources" are neither a list nor "dynamic"'
  const uris = new Set<unknown>()
  for (const file of resources as unknown[]) {
    if (!isFile(file)) return 'one of its "resources" has no "uri", "digest" or "size" that is one'
    if (!isBelow(folder, file.uri)) return 'one of its "resources" is not in its folder'
    uris.add(file.uri)
  }
  if (uris.size < resources.length) return 'one of its "resources" is there twice'
  return uris.has(uri) ? undefined : `its "resources" lack its ${SKILL_FILE}`
}

/** True for a URI below a folder that no server can take for one elsewhere. */
export function isBelow (folder: string, uri: string): boolean {
  return uri.startsWith(`${folder}/`) && uri.slice(folder.length + 1).split('/').every(isPlainName)
}

/** The children of a folder, sorted by name, by the files below it and the URIs of all folders. */
export function childrenIn (
  files: readonly SkillFile[],
  folders: readonly string[],
  uri: string,
  typeOf: (uri: string) => string | undefined = () => undefined
): FolderChild[] | undefined {
  const start = `${uri}/`
  const children = new Map<string, FolderChild>()
  for (const folder of folders) {
    const name = folder.startsWith(start) ? folder.slice(start.length) : ''
    if (name !== '' && !name.includes('/')) children.set(name, { uri: folder, name: decode(name), mimeType: FOLDER })
  }
  for (const file of files) {
    if (!file.uri.startsWith(start)) continue
    const [name = '', ...rest] = file.uri.slice(start.length).split('/')
    const mimeType = typeOf(file.uri)
    children.set(name, rest.length > 0
      ? { uri: start + name, name: decode(name), mimeType: FOLDER }
      : { uri: file.uri, name: decode(name), ...(mimeType === undefined ? {} : { mimeType }), size: file.size })
  }
  if (children.size === 0 && !folders.includes(uri)) return undefined
  return [...children.values()].sort((a, b) => (a.uri < b.uri ? -1 : 1))
}

const isFile = (file: unknown): file is SkillFile =>
  isObject(file) && typeof file.uri === 'string' && typeof file.digest === 'string' && DIGEST.test(file.digest) &&
  Number.isSafeInteger(file.size) && (file.size as number) >= 0

/** False for what decodes, perhaps twice, to another path than it looks like. */
function isPlainName (name: string): boolean {
  const decoded = decode(decode(name))
  return decoded !== '' && decoded !== '.' && decoded !== '..' && !/[/\\\0]/.test(decoded)
}

function decode (name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
