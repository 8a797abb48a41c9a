import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { resource } from '../../../protocol/definitions/resource.js'
import {
  childrenIn,
  folderOf,
  mistakeOfFrontmatter,
  SKILL_FILE,
  SKILL_LIMITS,
  type Skill,
  type SkillFile
} from '../../../protocol/definitions/skill.js'
import type { ResourceContents } from '../../../protocol/wire/content.js'
import type { DocumentError } from '../../../system/documents/document.js'
import type * as FileTypes from '../../../system/files/file-type.js'
import { uriBelow } from '../../../system/files/file-uri.js'
import { FolderError, hashFolder, type HashedFolder } from '../../../system/files/hash-folder.js'
import { readInside } from '../../../system/files/read-inside.js'
import { SkillError } from './skill-error.js'

/** A folder with a SKILL.md, the URI that it gets, and the scopes that it requires. */
export interface SkillFolder {
  readonly folder: string
  readonly uri: string
  readonly scopes?: readonly string[] | undefined
}

/** A skill as it was read, and what its next version is compared with. */
export interface ReadSkill { readonly skill: Skill, readonly hashed: HashedFolder }

type Types = typeof FileTypes

/** The most characters between the two lines of hyphens. */
const MAX_FRONTMATTER = 64 * 1024
const MARKDOWN = 'text/markdown'

/**
 * Reads a skill. The former version is returned where nothing has changed. Throws a SkillError with a sentence for what
 * cannot be served.
 */
export async function readSkill (place: SkillFolder, former?: ReadSkill): Promise<ReadSkill> {
  const hashed = await hashFolder(place.folder, SKILL_LIMITS, former?.hashed).catch((error: unknown) => {
    throw error instanceof FolderError ? new SkillError(error.message) : error
  })
  const base = `${folderOf(place.uri)}/`
  const files = [...hashed.files.values()].map(({ names, digest, size }) =>
    ({ uri: uriBelow(base, [...names]), digest: `sha256:${digest}`, size }))
  const isSame = former !== undefined && isDeepStrictEqual(files, former.skill.listed.resources) &&
    isDeepStrictEqual(hashed.folders, former.hashed.folders)
  if (isSame) return { skill: former.skill, hashed }
  // Both load large packages.
  const [types, { parseYaml }] = await Promise.all([
    import('../../../system/files/file-type.js'),
    import('../../../system/documents/yaml.js')
  ])
  const frontmatter = parseFrontmatter(await textOf(hashed, types), parseYaml)
  const wrong = mistakeOfFrontmatter(frontmatter, basename(place.folder))
  if (wrong !== undefined) throw new SkillError(wrong)
  return { skill: makeSkill(place, frontmatter, files, hashed, types), hashed }
}

function makeSkill (
  { uri, scopes }: SkillFolder,
  frontmatter: Record<string, unknown>,
  files: readonly SkillFile[],
  { jail, files: hashed, folders }: HashedFolder,
  types: Types
): Skill {
  const base = `${folderOf(uri)}/`
  const paths = new Map([...hashed.values()].map(({ names }) => [uriBelow(base, [...names]), names.join('/')]))
  const folderUris = [folderOf(uri), ...folders.map(folder => uriBelow(base, folder.split('/')))]
  const typeOf = (asked: string): string => asked === uri ? MARKDOWN : types.typeByName(asked) ?? 'application/octet-stream'
  return {
    kind: 'skill',
    uri,
    listed: { uri, frontmatter, resources: files },
    has: asked => paths.has(asked),
    childrenOf: asked => childrenIn(files, folderUris, asked, typeOf),
    resource: resource({
      uri,
      name: String(frontmatter.name),
      description: String(frontmatter.description),
      mimeType: MARKDOWN,
      ...(scopes === undefined ? {} : { scopes }),
      read: async (_variables, { signal }, asked) => {
        const path = paths.get(asked)
        if (path === undefined) return undefined
        const bytes = await readInside(jail, `${jail.root}/${path}`, SKILL_LIMITS.maxBytes, signal)
        return typeof bytes === 'string' ? undefined : [contentsOf(asked, bytes, asked === uri, types)]
      }
    })
  }
}

function contentsOf (uri: string, bytes: Buffer, isSkillFile: boolean, { detectType }: Types): ResourceContents {
  const { mimeType, text } = detectType(uri, bytes)
  if (text === undefined) return { uri, mimeType, blob: bytes.toString('base64') }
  return { uri, mimeType: isSkillFile ? MARKDOWN : mimeType, text }
}

async function textOf ({ jail, files }: HashedFolder, { detectType }: Types): Promise<string> {
  if (!files.has(SKILL_FILE)) throw new SkillError(`there is no file ${SKILL_FILE} in it`)
  const bytes = await readInside(jail, `${jail.root}/${SKILL_FILE}`, SKILL_LIMITS.maxBytes)
  if (typeof bytes === 'string') throw new SkillError(`its ${SKILL_FILE} cannot be read`)
  const { text } = detectType(SKILL_FILE, bytes)
  if (text === undefined) throw new SkillError(`its ${SKILL_FILE} is not text in UTF-8`)
  return text
}

function parseFrontmatter (text: string, parse: (yaml: string) => { value: unknown }): Record<string, unknown> {
  const lines = text.replace(/^\uFEFF/, '')
  const [start = '', yaml = ''] = /^---[ \t]*\r?\n([^]*?)^---[ \t]*$/m.exec(lines) ?? []
  if (start === '' || !lines.startsWith(start)) {
    throw new SkillError(`its ${SKILL_FILE} has to begin with frontmatter: a line "---", YAML, and a line "---"`)
  }
  if (yaml.length > MAX_FRONTMATTER) {
    throw new SkillError(`the frontmatter of its ${SKILL_FILE} has more than ${MAX_FRONTMATTER} characters`)
  }
  try {
    const value = JSON.parse(JSON.stringify(parse(yaml.replaceAll('\r\n', '\n')).value, finite) ?? 'null') as unknown
    return Object(value) as Record<string, unknown>
  } catch (error) {
    if (error instanceof SkillError) throw error
    const { message: why, line } = error as Partial<DocumentError>
    const at = line === undefined ? '' : ` (line ${line + 1})`
    throw new SkillError(`the frontmatter of its ${SKILL_FILE} cannot be read: ${why}${at}`)
  }
}

/** Refuses numbers that JSON has not: clients compare the frontmatter with the file. */
function finite (key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new SkillError(`"${key}" in its frontmatter is no number that JSON has; quote it`)
  }
  return value
}
