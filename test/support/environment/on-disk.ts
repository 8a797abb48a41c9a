import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Test } from 'tap'
import type { Store } from '../../../protocol/store.js'
import { diskStore } from '../../../stores/disk/store.js'
import type { Subject } from '../../stores/contract.js'

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
  let store = opened(t, folder)
  return {
    get store () { return store },
    pause: async () => {
      if (!reopens) return
      await store.close()
      const left = sessionsIn(folder)
      store = opened(t, folder)
      // As a process does that restores the sessions of one that is gone.
      for (const { id, nodeAddress, expires } of left) await store.sessions.adopt(id, nodeAddress, expires)
    }
  }
}

function sessionsIn (folder: string): Array<{ id: string, nodeAddress: string, expires: number }> {
  const db = new DatabaseSync(join(folder, FILE))
  try {
    return db.prepare('SELECT id, node_address AS nodeAddress, expires FROM sessions').all() as unknown as Array<{ id: string, nodeAddress: string, expires: number }>
  } finally {
    db.close()
  }
}
