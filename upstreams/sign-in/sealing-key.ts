import { randomBytes, randomUUID } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Sealer } from '../../protocol/questions/seal.js'
import { SIGN_IN_KEY, whyNotStored, type SealingOptions } from './storable.js'

/**
 * Opens the key that seals tokens: a file in the data folder that only the user's account can read, or the option
 * `secret` where they are in Redis. Undefined where there is none yet, unless `create`. Throws a sentence where it
 * cannot be used.
 */
export function openSealer (options: SealingOptions, create: boolean): Sealer | undefined {
  const { data, redis, secret } = options
  const why = whyNotStored(options)
  if (why !== undefined) throw new Error(why)
  if (redis !== undefined) return secret === undefined ? undefined : new Sealer(secret)
  const file = join(data ?? '', SIGN_IN_KEY)
  if (create) createKey(data ?? '', file)
  const key = readKey(file)
  return key === undefined ? undefined : new Sealer(key)
}

function readKey (file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if ((stats.mode & 0o077) !== 0 && !isWindows(stats.mode)) {
    throw new Error(`${file}, which seals sign-ins, can be read by others; run chmod 600 on it, and sign in again`)
  }
  const key = readFileSync(file, 'utf8').trim()
  if (key.length < 32) throw new Error(`${file}, which seals sign-ins, is damaged; delete it, and sign in again`)
  return key
}

/** Windows has no such modes: Node.js reports 0o666 for every file that can be written. */
const isWindows = (mode: number): boolean => (mode & 0o777) === 0o666 && FILE_SYSTEM_HAS_NO_MODES

const FILE_SYSTEM_HAS_NO_MODES = join('a', 'b').includes('\\')

// Written under another name and then linked: no process reads half a key, and of two that create one, both use one.
function createKey (folder: string, file: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const draft = `${file}.${randomUUID()}.new`
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 })
    chmodSync(draft, 0o600)
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}
