import { join } from 'node:path'
import { namesIn } from './file-uri.js'
import { entriesOf, type FolderEntry } from './folder-entries.js'
import { findInside, isInside, resolveInside, type Jail } from './jail.js'

/**
 * Completions of a typed path of a file or folder below a real folder, encoded for the variable of a URI template.
 * Folders end in a slash.
 */
export async function suggestPaths (jail: Jail, typed: string): Promise<string[]> {
  const start = typed.slice(0, typed.lastIndexOf('/') + 1)
  const names = start === '' ? [] : namesIn(start.slice(0, -1))
  const folder = names === undefined ? undefined : await folderAt(jail, names)
  if (folder === undefined) return []
  const suggestions: string[] = []
  for (const entry of await entriesOf(folder)) {
    const path = start + encodeName(entry.name)
    if (!path.startsWith(typed)) continue
    const kind = await kindOf(jail, join(folder, entry.name), entry)
    if (kind !== undefined) suggestions.push(kind === 'folder' ? `${path}/` : path)
  }
  return suggestions
}

async function folderAt (jail: Jail, names: string[]): Promise<string | undefined> {
  return names.length === 0 ? jail.root : await resolveInside(jail, join(jail.root, ...names))
}

async function kindOf (jail: Jail, path: string, { kind }: FolderEntry): Promise<'file' | 'folder' | undefined> {
  if (kind !== 'link') return isInside(jail, path) ? kind : undefined
  const { stats } = await findInside(jail, path) ?? {}
  return stats?.isFile() === true ? 'file' : stats?.isDirectory() === true ? 'folder' : undefined
}

// Encodes the characters that the expansion of {+path} leaves as they are and that mean something else in a URI.
const encodeName = (name: string): string => name.replace(/[%?#\\\p{Cc}]/gu, encodeURIComponent)
