import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { SessionStore, Store } from '../../protocol/store.js'
import { diskStore } from '../../stores/disk.js'
import type { Subject } from './contract.js'

export const GIBIBYTE = 1024 * 1024 * 1024
export const FILE = 'patchbay.db'

/** A new folder that goes when the test ends. */
export async function dataFolder (t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'patchbay-data-'))
  t.teardown(async () => await rm(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** A store that is closed when the test ends, if it is not before. */
export function opened (t: Test, folder: string, maxSize = GIBIBYTE): Store {
  const store = diskStore(folder, maxSize)
  t.teardown(async () => await store.close().catch(() => {}))
  return store
}

/** A store in a folder of its own, which is closed and opened again at each pause if that is wanted. */
export async function onDisk (t: Test, reopens = false): Promise<Subject> {
  const folder = await dataFolder(t)
  const saved = new Map<string, Saved>()
  let store = noted(opened(t, folder), saved)
  return {
    get store () { return store },
    pause: async () => {
      if (!reopens) return
      await store.close()
      store = noted(opened(t, folder), saved)
      for (const args of [...saved.values()]) await takeOver(store, args)
    }
  }
}

type Saved = Parameters<SessionStore['save']>

/** Notes what is saved, to save it again. */
function noted (store: Store, saved: Map<string, Saved>): Store {
  const { sessions } = store
  const save = sessions.save.bind(sessions)
  sessions.save = async (...args) => {
    saved.set(args[0], args)
    await save(...args)
  }
  const touch = sessions.touch.bind(sessions)
  sessions.touch = async (ids, expires) => {
    for (const [id, [, record, home]] of saved) if (ids.includes(id)) saved.set(id, [id, record, home, expires])
    await touch(ids, expires)
  }
  return store
}

/** Makes a session of a process that is gone one of this process, as whoever goes on with it does. */
async function takeOver ({ sessions }: Store, [id, ...args]: Saved): Promise<void> {
  if (await sessions.load(id) !== undefined) await sessions.save(id, ...args)
}
