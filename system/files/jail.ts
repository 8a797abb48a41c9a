import type { Stats } from 'node:fs'
import { lstat, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { sep } from 'node:path'

const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'EINVAL']

/** The path of a folder without links; undefined if there is none. */
export async function realFolder (path: string): Promise<string | undefined> {
  return await unlessAbsent(async () => (await stat(path)).isDirectory() ? await realpath(path) : undefined)
}

/** A real folder, and the real folders in it that are not served. */
export interface Jail { root: string, hidden: readonly string[] }

/** True for a real path that is in the jail and not hidden. */
export const isInside = ({ root, hidden }: Jail, path: string): boolean =>
  isBelow(root, path) && !hidden.some(folder => path === folder || isBelow(folder, path))

/** Not the folder itself, and not a sibling whose name begins like it. */
const isBelow = (root: string, path: string): boolean => path.startsWith(root.endsWith(sep) ? root : root + sep)

/**
 * The target of a path with all links resolved; undefined if it is outside or does not exist, which callers cannot tell
 * apart.
 */
export async function resolveInside (jail: Jail, path: string): Promise<string | undefined> {
  const real = await unlessAbsent(async () => await realpath(path))
  return real !== undefined && isInside(jail, real) ? real : undefined
}

/** The target of a path and its stats; undefined if there is none inside. */
export async function findInside (jail: Jail, path: string): Promise<{ real: string, stats: Stats } | undefined> {
  const real = await resolveInside(jail, path)
  const stats = real === undefined ? undefined : await unlessAbsent(async () => await lstat(real))
  return real === undefined || stats === undefined ? undefined : { real, stats }
}

/**
 * The present path of an open file, even if it was moved since it was opened; undefined where the system does not tell.
 */
export async function pathOfOpen (file: FileHandle): Promise<string | undefined> {
  return process.platform === 'linux'
    ? await unlessAbsent(async () => await readlink(`/proc/self/fd/${file.fd}`))
    : undefined
}

/** The result of the work; undefined if it failed because a path does not exist or is not accessible. */
export async function unlessAbsent<T> (work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (ABSENT.includes(codeOf(error))) return undefined
    throw error
  }
}

export const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
