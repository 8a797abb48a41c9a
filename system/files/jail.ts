import type { Stats } from 'node:fs'
import { lstat, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { sep } from 'node:path'

const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'EINVAL']

/** Where a folder really is; undefined when there is none. */
export async function realFolder (path: string): Promise<string | undefined> {
  return await unlessAbsent(async () => (await stat(path)).isDirectory() ? await realpath(path) : undefined)
}

/** A real folder, and the real folders in it that are nobody's business. */
export interface Jail { root: string, hidden: readonly string[] }

/** Whether a real path is in the jail and not hidden. */
export const isInside = ({ root, hidden }: Jail, path: string): boolean => isBelow(root, path) && !hidden.some(folder => path === folder || isBelow(folder, path))

/** Not the folder itself, and not a sibling whose name begins like it. */
const isBelow = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep)

/** Where a path really leads, links and all; undefined when that is outside, or nowhere, which look the same. */
export async function resolveInside (jail: Jail, path: string): Promise<string | undefined> {
  const real = await unlessAbsent(async () => await realpath(path))
  return real !== undefined && isInside(jail, real) ? real : undefined
}

/** What is at the place a path really leads to; undefined when there is nothing inside. */
export async function findInside (jail: Jail, path: string): Promise<{ real: string, stats: Stats } | undefined> {
  const real = await resolveInside(jail, path)
  const stats = real === undefined ? undefined : await unlessAbsent(async () => await lstat(real))
  return real === undefined || stats === undefined ? undefined : { real, stats }
}

/** Where the system says that an open file is, whatever has happened to the path it was opened by; undefined where it does not say. */
export async function placeOf (file: FileHandle): Promise<string | undefined> {
  return process.platform === 'linux' ? await unlessAbsent(async () => await readlink(`/proc/self/fd/${file.fd}`)) : undefined
}

/** What the work finds; undefined when something on the way is not there, or not for us. */
export async function unlessAbsent<T> (work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (ABSENT.includes(codeOf(error))) return undefined
    throw error
  }
}

export const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
