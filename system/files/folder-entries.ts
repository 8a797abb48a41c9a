import { isUtf8 } from 'node:buffer'
import { constants, type Dirent } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { pathOfOpen, unlessAbsent } from './jail.js'

export interface FolderEntry { name: string, kind: 'file' | 'folder' | 'link' }

type Raw = Dirent | Dirent<Buffer>

/**
 * The entries of a real folder, sorted by name, from a name on. None if the folder is gone, not readable, or replaced
 * by a link.
 */
export async function entriesOf (folder: string, from = ''): Promise<FolderEntry[]> {
  const raw =
    (await unlessAbsent(async () =>
      process.platform === 'linux' ? await readOpened(folder) : await readNamed(folder)
    )) ?? []
  return raw.flatMap(toEntry).filter(({ name }) => name >= from).sort((a, b) => a.name < b.name ? -1 : 1)
}

/** Reads through the open descriptor, so that a link put in the place of the folder has no effect. */
async function readOpened (folder: string): Promise<Raw[]> {
  const opened = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const place = await pathOfOpen(opened)
    if (place === undefined) return await readNamed(folder)
    return place === folder ? await readTextNames(`/proc/self/fd/${opened.fd}`) : []
  } finally {
    await opened.close()
  }
}

async function readNamed (folder: string): Promise<Raw[]> {
  const raw = await readTextNames(folder)
  return await realpath(folder) === folder ? raw : []
}

// Leaves out names that are not UTF-8, which no URI can express. Reading all names as bytes would take three times as
// long.
async function readTextNames (folder: string): Promise<Raw[]> {
  const raw = await readdir(folder, { withFileTypes: true })
  if (!raw.some(({ name }) => name.includes('\uFFFD'))) return raw
  return (await readdir(folder, { withFileTypes: true, encoding: 'buffer' })).filter(({ name }) => isUtf8(name))
}

function toEntry (raw: Raw): FolderEntry[] {
  const kind = raw.isFile() ? 'file' : raw.isDirectory() ? 'folder' : raw.isSymbolicLink() ? 'link' : undefined
  return kind === undefined ? [] : [{ name: String(raw.name), kind }]
}
