import { constants, type BigIntStats } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { codeOf, findInside, isInside, placeOf, resolveInside, unlessAbsent, type Jail } from './jail.js'

/** Why there are no bytes. */
export type Refusal = 'absent' | 'unreadable' | 'too large'

// Windows knows neither flag, and neither links nor pipes that would need them.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
const CHUNK = 64 * 1024
const TRIES = 3
const LOOKS = 5

/** The bytes of a regular file below a real folder, at most `max` of them. A file that is replaced meanwhile is opened again. */
export async function readInside (jail: Jail, path: string, max: number, signal?: AbortSignal): Promise<Buffer | Refusal> {
  for (let tries = 0; tries < TRIES; tries++) {
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
  // To open a device can be to do something, so only a file is opened.
  if (found?.stats.isFile() !== true) return 'absent'
  try {
    return await open(found.real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(codeOf(error))) return 'unreadable'
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(codeOf(error))) return 'absent'
    throw error
  }
}

// A folder on the way may have become a link between the look and the opening, and may be a folder again now: only the open file counts.
async function isStillInside (jail: Jail, path: string, file: FileHandle): Promise<boolean> {
  const opened = await file.stat({ bigint: true })
  const place = await placeOf(file)
  if (!opened.isFile() || (place !== undefined && !isInside(jail, place))) return false
  // Who swaps folders at the right moments can deceive one look at the path, but hardly all of them.
  for (let looks = place === undefined ? LOOKS : 1; looks > 0; looks--) {
    if (!await leadsTo(opened, jail, path)) return false
  }
  return true
}

async function leadsTo ({ dev, ino }: BigIntStats, jail: Jail, path: string): Promise<boolean> {
  const real = await resolveInside(jail, path)
  const named = real === undefined ? undefined : await unlessAbsent(async () => await stat(real, { bigint: true }))
  return named?.ino === ino && named.dev === dev
}

// The size that a file says it has is no promise: it may grow, or be made up as it is read.
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
