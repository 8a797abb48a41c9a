import type { Options } from '../../options.js'
import { openFile, replaceFile } from '../../system/files/edit-file.js'
import { MAX_LOCK, MAX_STORED, readAccepted, SPACE, storableOf } from '../../upstreams/pins/accepted.js'
import type { Section } from '../../upstreams/pins/definitions.js'
import { readLock, writeLock, type Lock } from '../../upstreams/pins/lock-text.js'
import { withStore } from '../commands/with-servers.js'

/** Changes of what is accepted: the new section of a server, or undefined where nothing of it is accepted any more. */
export type Changes = ReadonlyMap<string, Section | undefined>

/** The place of what was accepted. */
export interface LockPlace {
  /** The file, or in words the store. */
  readonly name: string
  /** Rejects with a sentence if it cannot be read. */
  readonly read: () => Promise<Lock>
  /** Changes it, all or nothing. Rejects with a sentence. */
  readonly change: (changes: Changes) => Promise<void>
  /** Removes everything, also what cannot be read. */
  readonly clear: () => Promise<void>
}

/** The place that a gateway with these options uses. */
export const lockPlaceOf = (options: Options, lockFile: string | undefined): LockPlace =>
  lockFile === undefined ? inStore(options) : inFile(lockFile)

function inFile (file: string): LockPlace {
  const write = async (lock: Lock, opened = openFile(file)): Promise<void> => {
    const bytes = Buffer.from(await writeLock(lock))
    if (bytes.length > MAX_LOCK) {
      throw new Error(`${file} would have more than ${MAX_LOCK} bytes; nothing was written: accept fewer servers, or keep what is accepted in the store, without a config file`)
    }
    replaceFile(opened, bytes)
  }
  return {
    name: file,
    read: async () => await readAccepted({ file }),
    change: async changes => {
      const opened = openFile(file)
      const lock = opened.bytes === undefined
        ? new Map<string, Section>()
        : await readLock(opened.bytes.toString()).catch((error: Error) => {
          throw new Error(`${file}: ${error.message}; nothing was written`, { cause: error })
        })
      await write(applyChanges(lock, changes), opened)
    },
    clear: async () => await write(new Map())
  }
}

function applyChanges (lock: Lock, changes: Changes): Lock {
  const next = new Map(lock)
  for (const [alias, section] of changes) {
    if (section === undefined) next.delete(alias)
    else next.set(alias, section)
  }
  return next
}

function inStore (options: Options): LockPlace {
  return {
    name: 'the store of the gateway',
    read: async () => await withStore(options, async values => await readAccepted({ values })),
    change: async changes => await withStore(options, async values => {
      for (const [alias, section] of changes) {
        if (section === undefined) await values.delete(SPACE, alias)
        else await values.put(SPACE, alias, await storableOf(alias, section), { max: MAX_STORED })
      }
    }),
    clear: async () => await withStore(options, async values => {
      for (const alias of await values.keys(SPACE, { limit: MAX_STORED })) await values.delete(SPACE, alias)
    })
  }
}
