import { readFile, stat } from 'node:fs/promises'
import type { Values } from '../../protocol/store.js'
import type { ServerEntry } from '../server-entry.js'
import { sourceOf, type Section } from './definitions.js'
import { readLock, writeLock, type Lock } from './lock-text.js'

/** The space of the store that has accepted definitions where there is no config file. */
export const SPACE = 'pins'
/** The most servers of which definitions are stored. */
export const MAX_STORED = 1_000
/** The largest lock that is read, in bytes. */
export const MAX_LOCK = 16 * 1024 * 1024

/** The place of accepted definitions: a file, or the store. */
export type Place = { readonly file: string } | { readonly values: Values }

/** Settles to what was accepted. Rejects with a sentence that names the place if that cannot be read. */
export async function readAccepted (place: Place): Promise<Lock> {
  return 'file' in place ? await readFrom(place.file) : await readStored(place.values)
}

async function readFrom (file: string): Promise<Lock> {
  const text = await textOf(file)
  if (text === undefined) return new Map()
  return await readLock(text).catch((error: Error) => {
    throw new Error(`${file}: ${error.message}`, { cause: error })
  })
}

async function textOf (file: string): Promise<string | undefined> {
  try {
    if ((await stat(file)).size > MAX_LOCK) throw new Error(`${file}: it has more than ${MAX_LOCK} bytes`)
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw code === undefined ? error : new Error(`${file}: it cannot be read (${code})`, { cause: error })
  }
}

async function readStored (values: Values): Promise<Lock> {
  const stored = await values.list(SPACE, { limit: MAX_STORED })
  const lock = new Map<string, Section>()
  for (const { key, value } of stored) {
    const own = await readLock(String(value)).catch((error: Error) => {
      throw new Error(`what the store has accepted of ${key}: ${error.message}`, { cause: error })
    })
    for (const section of own.values()) lock.set(key, section)
  }
  return lock
}

/** Settles to a section as it is stored: as the text of a lock, which can be read in short turns. */
export const storableOf = async (alias: string, section: Section): Promise<string> =>
  await writeLock(new Map([[alias, section]]))

/** The section of a server: under its alias, or under that of a server which is configured no more and was the same. */
export function sectionFor (lock: Lock, entry: ServerEntry, aliases: ReadonlySet<string>): Section | undefined {
  const own = lock.get(entry.alias)
  if (own !== undefined) return ofCallers(entry, own)
  const source = sourceOf(entry)
  const former = [...lock].filter(([alias, section]) => section.source === source && !aliases.has(alias))
  return former.length === 1 ? ofCallers(entry, former[0]?.[1]) : undefined
}

/** Without what is never served of a server that each caller signs in to: see `isListed`. */
function ofCallers ({ auth }: ServerEntry, section: Section | undefined): Section | undefined {
  if (auth !== 'caller' || section === undefined) return section
  return { ...section, instructions: undefined, lists: { ...section.lists, resources: new Map(), skills: new Map() } }
}
