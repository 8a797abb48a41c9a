import { join } from 'node:path'
import { entriesOf } from './folder-entries.js'
import { findInside, type Jail } from './jail.js'

export interface ListedFile { names: string[], size: number }

export interface Listing {
  /** The names of the path of the file after which to begin. */
  after: string[]
  /** The most files to return. */
  size: number
  /** True for a path that is left out, with everything below it. */
  leavesOut: (names: string[]) => boolean
  signal?: AbortSignal | undefined
}

/** The regular files below a real folder, sorted by path. Folders before `after` are not read. */
export async function listFiles (jail: Jail, { after, size, leavesOut, signal }: Listing): Promise<ListedFile[]> {
  const { root } = jail
  const found: ListedFile[] = []
  await visit([], after)
  return found

  async function visit (folder: string[], [from, ...deeper]: string[]): Promise<void> {
    for (const { name, kind } of await entriesOf(join(root, ...folder), from)) {
      if (found.length === size) return
      signal?.throwIfAborted()
      const names = [...folder, name]
      if (leavesOut(names)) continue
      // Links to folders are not followed: they may lead in circles.
      if (kind === 'folder') await visit(names, name === from ? deeper : [])
      else if (name !== from) await take(names)
    }
  }

  async function take (names: string[]): Promise<void> {
    const { stats } = await findInside(jail, join(root, ...names)) ?? {}
    if (stats?.isFile() === true) found.push({ names, size: stats.size })
  }
}
