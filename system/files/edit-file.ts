import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** A file of the user as it was read, to be replaced as a whole. */
export interface OpenedFile {
  /** The path that symbolic links lead to: a link stays a link. */
  readonly path: string
  /** Undefined where there is no such file. */
  readonly bytes: Buffer | undefined
}

/** The largest file that is edited, in bytes. */
const MAX_SIZE = 16 * 1024 * 1024
/** The most symbolic links from one to the next. */
const MAX_LINKS = 40
/** How old the new text of another program is that has ended without putting it in place, in milliseconds. */
const STALE = 60_000
/** The rights of a file that is made: it may get secrets. */
const OWNER_ONLY = 0o600

/** Reads a file to edit it. Throws a sentence if it cannot be read. */
export function openFile (file: string): OpenedFile {
  const path = followLinks(resolve(file))
  return { path, bytes: read(path) }
}

/**
 * Replaces a file by other bytes, all or nothing, with its rights and its owner. Throws a sentence, and leaves the old
 * bytes, if the file may not be written, if it is not what was opened any more, or if there is no space. A file that
 * was not there is made, for its owner alone. With `backup`, the old bytes are kept in a new file of that name beside
 * it, with a number where the name is taken, whose path is returned. With `mark`, a file that was not there gets an
 * empty one of that name beside it, which is there before it. With `isPrivate`, all are for the owner alone.
 */
export function replaceFile (
  opened: OpenedFile,
  bytes: Buffer,
  { backup, mark, isPrivate = false }: { backup?: string, mark?: string, isPrivate?: boolean } = {}
): string | undefined {
  const { path, bytes: old } = opened
  const present = old === undefined ? OWNER_ONLY : checkWritable(path)
  const mode = isPrivate ? OWNER_ONLY : present
  let saved: string | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const like = { mode, owner: statSync(path, { throwIfNoEntry: false }) }
    if (backup !== undefined && old !== undefined) saved = saveNew(join(dirname(path), backup), old, like)
    if (mark !== undefined && old === undefined) {
      saved = join(dirname(path), mark)
      writeFileSync(saved, '', { mode: OWNER_ONLY, flush: true })
    }
    put(path, bytes, like, () => {
      const now = read(path)
      if (now === undefined ? old !== undefined : old?.equals(now) !== true) {
        throw new Error(`${path} was changed by another program meanwhile; nothing was written: try again`)
      }
    })
    return old === undefined ? undefined : saved
  } catch (error) {
    if (saved !== undefined) rmSync(saved, { force: true })
    throw explain(path, error as NodeJS.ErrnoException)
  }
}

/** Throws a sentence if a file that was opened may not be replaced. */
export function checkReplaceable ({ path, bytes }: OpenedFile): void {
  if (bytes !== undefined) checkWritable(path)
}

/** The newest of the backups that were saved under a name, which is the one with the highest number. */
export function newestBackup (path: string): string | undefined {
  const last = lastNumber(path)
  return last === 0 ? undefined : numbered(path, last)
}

const numbered = (path: string, number: number): string => number === 1 ? path : `${path}.${number}`

/** The highest number of a file of this name, where the name alone is number 1; 0 if there is none. */
function lastNumber (path: string): number {
  const name = basename(path)
  const numbers = readdirSync(dirname(path)).map(each => {
    const rest = each.startsWith(`${name}.`) ? each.slice(name.length + 1) : ''
    return each === name ? 1 : /^[1-9]\d{0,8}$/.test(rest) ? Number(rest) : 0
  })
  return Math.max(0, ...numbers)
}

/** Writes a file that was not there, under the name or the next number after it. Returns its path. */
function saveNew (path: string, bytes: Buffer, like: Like): string {
  const file = numbered(path, lastNumber(path) + 1)
  const descriptor = openSync(file, 'wx', OWNER_ONLY)
  try {
    fill(descriptor, bytes, like)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
  return file
}

/** Writes bytes, owner and rights, waits until they are on disk, and closes the file. */
function fill (descriptor: number, bytes: Buffer, { mode, owner }: Like): void {
  try {
    writeFileSync(descriptor, bytes)
    if (owner !== undefined) keepOwner(descriptor, owner)
    fchmodSync(descriptor, mode)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** The rights of a new file, and the file whose owner it gets. */
interface Like { readonly mode: number, readonly owner: Stats | undefined }

/** Makes a name for a new file beside one. */
const temporaryOf = (path: string): string => join(dirname(path), `.${basename(path)}.patchbay-new`)

/**
 * Writes a new file and renames it over the old one. Its name is the same for all programs that edit the file, so that
 * of two at once one is refused. `check` runs when nothing but the renaming is left to do.
 */
function put (path: string, bytes: Buffer, like: Like, check: () => void): void {
  const temporary = temporaryOf(path)
  removeStale(temporary)
  const descriptor = openSync(temporary, 'wx', OWNER_ONLY)
  try {
    fill(descriptor, bytes, like)
    check()
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

function removeStale (temporary: string): void {
  const stats = lstatSync(temporary, { throwIfNoEntry: false })
  if (stats !== undefined && Date.now() - stats.mtimeMs > STALE) rmSync(temporary, { force: true })
}

/** Gives a new file the owner and the group of the old one, as far as this user may. */
function keepOwner (descriptor: number, { uid, gid }: Stats): void {
  if (process.geteuid === undefined) return
  try {
    fchownSync(descriptor, uid, gid)
  } catch (error) {
    // A user may not give files away; a group that this user is not in is lost.
    if (uid !== process.geteuid()) throw error
  }
}

/** A rename is on disk when its folder is. Not every system can do that. */
function syncFolder (folder: string): void {
  try {
    const descriptor = openSync(folder, 'r')
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch {}
}

/** The rights of a file. Throws a sentence if it is read-only, also where root or a rename could change it. */
function checkWritable (path: string): number {
  const { mode, uid } = statSync(path)
  const other = process.geteuid?.() ?? uid
  if ((mode & 0o222) === 0) throw new Error(`${path} is read-only; nothing was written: allow it with chmod u+w first`)
  if (other !== uid && other !== 0) throw new Error(`${path} belongs to another user; nothing was written`)
  try {
    accessSync(path, constants.W_OK)
  } catch (error) {
    throw explain(path, error as NodeJS.ErrnoException)
  }
  return mode & 0o7777
}

function read (path: string): Buffer | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    if (!stats.isFile()) throw new Error(`${path} is not a file`)
    if (stats.size > MAX_SIZE) throw new Error(`${path} has more than ${MAX_SIZE} bytes`)
    return readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw code === 'EACCES' ? new Error(`${path} may not be read by this user`, { cause: error }) : error
  }
}

/** The path behind symbolic links, also where the last one leads to nothing yet. */
function followLinks (file: string): string {
  let path = file
  for (let links = 0; links < MAX_LINKS; links++) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path
    path = resolve(dirname(path), readlinkSync(path))
  }
  throw new Error(`${file} is a symbolic link that leads to itself`)
}

const REASONS: Record<string, string> = {
  ENOSPC: 'there is no space left on the disk',
  EDQUOT: 'the quota of this user is used up',
  EFBIG: 'the file would be larger than this user may write',
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EEXIST: 'another program is writing it; try again',
  EIO: 'the disk has an error'
}

function explain (path: string, error: NodeJS.ErrnoException): Error {
  const reason = REASONS[error.code ?? '']
  return reason === undefined
    ? error
    : new Error(`${path} cannot be written, and is as it was: ${reason}`, { cause: error })
}
