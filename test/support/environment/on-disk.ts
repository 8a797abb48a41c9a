import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Store } from '../../../protocol/store.js'
import { diskStore } from '../../../stores/disk/store.js'
import type { Owner } from '../owner.js'
import type { Subject } from '../../stores/contract.js'

export const GIBIBYTE = 1024 * 1024 * 1024
export const FILE = 'patchbay.db'

/** A new folder that goes when the test ends. */
export async function dataFolder (t: Owner): Promise<string> {
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
  let store = opened(t, folder)
  return {
    restarts: reopens,
    another: async () => opened(t, folder),
    get store () { return store },
    pause: async () => {
      if (!reopens) return
      await store.close()
      store = opened(t, folder)
      await store.sessions.takeOver('here')
    }
  }
}
