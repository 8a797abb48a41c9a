import { constants, type BigIntStats } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { codeOf, findInside, isInside, pathOfOpen, resolveInside, unlessAbsent, type Jail } from './jail.js'

/** Why a file could not be read. */
export type ReadFailure = 'absent' | 'unreadable' | 'too large'

// Windows has neither flag, nor the links and pipes that need them.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
const CHUNK = 64 * 1024
const MAX_TRIES = 3
/** How often the path is checked where the system does not tell the path of an open file. */
const PATH_CHECKS = 5

/**
 * The bytes of a regular file below a real folder, at most `max`. A file that is replaced meanwhile is opened again.
 */
export async function readInside (
  jail: Jail,
  path: string,
  max: number,
  signal?: AbortSignal
): Promise<Buffer | ReadFailure> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const file = await openInside(jail, path)
    if (typeof file === 'string') return file
    try {
      if (await isStillInside(jail, path, file)) return await readAtMost(file, max, signal)
    } finally {
      await file.close()
    }
  }
  return 'absent'
}

async function openInside (jail: Jail, path: string): Promise<FileHandle | 'absent' | 'unreadable'> {
  const found = await findInside(jail, path)
  // Opening a device can have effects, so only regular files are opened.
  if (found?.stats.isFile() !== true) return 'absent'
  try {
    return await open(found.real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(codeOf(error))) return 'unreadable'
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(codeOf(error))) return 'absent'
    throw error
  }
}

// A folder of the path may have been a link while the file was opened, and a folder again now: only the open file
// counts.
async function isStillInside (jail: Jail, path: string, file: FileHandle): Promise<boolean> {
  const opened = await file.stat({ bigint: true })
  const place = await pathOfOpen(file)
  if (!opened.isFile() || (place !== undefined && !isInside(jail, place))) return false
  // A program that swaps folders at the right moments can deceive one check of the path, but hardly all of them.
  for (let checks = place === undefined ? PATH_CHECKS : 1; checks > 0; checks--) {
    if (!await leadsTo(opened, jail, path)) return false
  }
  return true
}

async function leadsTo ({ dev, ino }: BigIntStats, jail: Jail, path: string): Promise<boolean> {
  const real = await resolveInside(jail, path)
  const named = real === undefined ? undefined : await unlessAbsent(async () => await stat(real, { bigint: true }))
  return named?.ino === ino && named.dev === dev
}

// The size in the stats is not reliable: a file may grow, and files such as those of /proc are generated as they are
// read.
async function readAtMost (file: FileHandle, max: number, signal?: AbortSignal): Promise<Buffer | 'too large'> {
  if ((await file.stat()).size > max) return 'too large'
  const chunks: Buffer[] = []
  for (let length = 0; length <= max;) {
    signal?.throwIfAborted()
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.min(CHUNK, max + 1 - length)))
    if (bytesRead === 0) return Buffer.concat(chunks)
    chunks.push(buffer.subarray(0, bytesRead))
    length += bytesRead
  }
  return 'too large'
}
