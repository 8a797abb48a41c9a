import type { Test } from 'tap'
import { randomToken } from '../../../lib/random-token.js'
import type { Store } from '../../../protocol/store.js'
import type { Subject } from '../../stores/contract.js'
import { readyStore } from './redis-commands.js'

/** A store on a Redis, with a prefix of its own. It is closed and opened again at each pause if that is wanted. */
export async function onRedis (t: Test, url: string, reopens = false): Promise<Subject> {
  const prefix = `test-${randomToken(6, 'hex')}:`
  let store = await opened(t, url, prefix)
  return {
    restarts: reopens,
    another: async () => await opened(t, url, prefix),
    get store () { return store },
    pause: async () => {
      if (!reopens) return
      const { self } = store.nodes
      await store.close()
      store = await opened(t, url, prefix)
      for (const id of ['s', 'a', 'b', 'old', 'young', 's2']) await store.sessions.moveHome(id, self)
    }
  }
}

async function opened (t: Test, url: string, prefix: string): Promise<Store> {
  const store = await readyStore(url, prefix)
  t.teardown(async () => await store.close().catch(() => {}))
  return store
}
