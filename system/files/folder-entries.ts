import { isUtf8 } from 'node:buffer'
import { constants, type Dirent } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { placeOf, unlessAbsent } from './jail.js'

export interface FolderEntry { name: string, kind: 'file' | 'folder' | 'link' }

type Raw = Dirent | Dirent<Buffer>

/** What is in a real folder, by name, from a name on. Nothing when the folder is gone, is closed to us, or has become a link. */
export async function entriesOf (folder: string, from = ''): Promise<FolderEntry[]> {
  const raw = await unlessAbsent(async () => process.platform === 'linux' ? await readOpened(folder) : await readNamed(folder)) ?? []
  return raw.flatMap(toEntry).filter(({ name }) => name >= from).sort((a, b) => a.name < b.name ? -1 : 1)
}

/** By what was opened, so that a link put in its place does not matter. */
async function readOpened (folder: string): Promise<Raw[]> {
  const opened = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const place = await placeOf(opened)
    if (place === undefined) return await readNamed(folder)
    return place === folder ? await namedInText(`/proc/self/fd/${opened.fd}`) : []
  } finally {
    await opened.close()
  }
}

async function readNamed (folder: string): Promise<Raw[]> {
  const raw = await namedInText(folder)
  return await realpath(folder) === folder ? raw : []
}

// A name that is not text has no URI that would lead back to it. To read all names as bytes takes three times as long.
async function namedInText (folder: string): Promise<Raw[]> {
  const raw = await readdir(folder, { withFileTypes: true })
  if (!raw.some(({ name }) => name.includes('\uFFFD'))) return raw
  return (await readdir(folder, { withFileTypes: true, encoding: 'buffer' })).filter(({ name }) => isUtf8(name))
}

function toEntry (raw: Raw): FolderEntry[] {
  const kind = raw.isFile() ? 'file' : raw.isDirectory() ? 'folder' : raw.isSymbolicLink() ? 'link' : undefined
  return kind === undefined ? [] : [{ name: String(raw.name), kind }]
}
