// A process that uses a store at the commands of its parent.
import { diskStore } from '../../../stores/disk/store.js'
import type { Store } from '../../../protocol/store.js'
import type { Asked } from './worker.js'

let store: Store | undefined
const changes: string[] = []

const commands: Record<string, (...args: never[]) => unknown> = {
  ready: () => process.pid,
  open: (folder: string, maxSize = 1024 * 1024 * 1024) => {
    store = diskStore(folder, maxSize)
    store.values.onChange((space, key) => { changes.push(`${space}/${key}`) })
  },
  close: async () => { await open().close() },
  put: async (space: string, key: string, value: unknown) => { await open().values.put(space, key, value) },
  list: async (space: string) => await open().values.list(space),
  heard: () => changes,
  /** Adds 1 so many times, a few at once. */
  add: async (key: string, times: number, atOnce: number) => {
    for (let count = 0; count < times; count += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, async () => await open().values.increment('numbers', key, 1)))
    }
  },
  /** Puts one entry after the other until it is killed, and reports each as soon as it is acknowledged. */
  fill: async (space: string, from: number) => {
    for (let number = from; ; number += 5) {
      await Promise.all([0, 1, 2, 3, 4].map(async more => {
        await open().values.put(space, String(number + more).padStart(8, '0'), 'x'.repeat(500))
        reply({ acknowledged: number + more })
      }))
    }
  },
  /** Locks the file so that no other process can write. */
  hold: async (ms: number) => {
    const { DatabaseSync } = await import('@photostructure/sqlite')
    const db = new DatabaseSync(process.argv[2] as string)
    db.exec('BEGIN IMMEDIATE')
    setTimeout(() => db.close(), ms)
  }
}

process.on('message', ({ id, command, args }: Asked) => {
  Promise.resolve().then(() => (commands[command] as (...args: unknown[]) => unknown)(...args)).then(
    value => reply({ id, value }),
    (error: Error) => reply({ id, error: error.message })
  )
})

function open (): Store {
  if (store === undefined) throw new Error('no store is open')
  return store
}

function reply (message: object): void {
  process.send?.(message)
}
