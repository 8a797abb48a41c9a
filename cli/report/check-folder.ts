import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Options } from '../../options.js'

const ADVICE = 'choose another with --data, or keep nothing with --ephemeral'

/**
 * Throws a sentence if the data folder, or the folder in which it would be created, cannot be written. Changes nothing.
 */
export function checkFolder (
  { data, ephemeral, redis }: Pick<Options, 'data' | 'ephemeral' | 'redis'>,
  isWritable = mayWrite
): void {
  if (redis !== undefined || ephemeral || data === undefined) return
  const place = nearestFolder(data)
  if (!statSync(place).isDirectory()) throw new Error(`data folder ${data}: ${place} is not a folder; ${ADVICE}`)
  const file = join(data, 'patchbay.db')
  if (!isWritable(place)) throw new Error(`data folder ${data}: this user may not write to ${place}; ${ADVICE}`)
  if (existsSync(file) && !isWritable(file)) {
    throw new Error(`data folder ${data}: this user may not write to ${file}; ${ADVICE}`)
  }
}

/** The folder itself if it is there, otherwise the first one above it that is. */
export function nearestFolder (folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}

function mayWrite (path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}
