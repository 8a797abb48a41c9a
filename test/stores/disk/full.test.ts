import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Store } from '../../../protocol/store.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { mounted } from './mount.js'
import { dataFolder, FILE, GIBIBYTE, opened } from '../../support/environment/on-disk.js'

const WHY = 'the disk is full, or the data file is as large as option maxData allows'
const REFUSED = { name: 'McpError', code: -32603, message: `Storage failed: ${WHY}` }

const key = (index: number): string => String(index).padStart(6, '0')

/** Puts entries until one is refused; gives how many were taken. */
async function fill (store: Store, most: number): Promise<number> {
  for (let count = 0; count < most; count++) {
    const outcome = await store.values.put('space', key(count), 'x'.repeat(2_000)).catch((error: unknown) => error)
    if (outcome !== undefined) return count
  }
  return most
}

/** Fills a store, frees space, and checks that nothing was lost. */
async function survives (t: Test, store: Store, freeSpace: (taken: number) => Promise<void>): Promise<void> {
  const troubles: Array<string | undefined> = []
  store.onFailureChange(() => { troubles.push(store.failure) })
  await store.sessions.save('s', RECORD, TOMORROW)
  t.equal(store.failure, undefined)
  const taken = await fill(store, 5_000)
  t.ok(taken > 20 && taken < 5_000, `${taken} entries were taken`)
  t.equal(store.failure, WHY)
  t.strictSame(troubles, [WHY], 'whoever wants to know is told once')

  await t.rejects(store.values.put('space', 'large', 'x'.repeat(200_000)), REFUSED, 'a large write is refused in words')
  await t.rejects(store.sessions.append('s', '0', { text: 'x'.repeat(200_000), method: 'm' }, false), REFUSED)
  t.equal((await store.values.list('space')).length, taken, 'what was acknowledged is there, and nothing else')
  t.equal(await store.values.get('space', key(taken - 1)), 'x'.repeat(2_000))
  t.ok(await store.sessions.load('s'))

  await freeSpace(taken)
  for (let index = 0; index < 30; index++) await store.values.put('space', `new ${index}`, 'y'.repeat(2_000))
  t.equal(store.failure, undefined, 'then all is well')
  t.strictSame(troubles, [WHY, undefined])
}

t.test('a file that may not grow any more refuses what is new, and goes on when something is deleted', async t => {
  const folder = await dataFolder(t)
  const maxSize = 400_000
  const store = opened(t, folder, maxSize)
  await survives(t, store, async taken => {
    for (let index = 0; index < taken / 2; index++) t.equal(await store.values.delete('space', key(index)), true)
  })
  t.ok(statSync(join(folder, FILE)).size <= maxSize)
})

t.test('a disk that is full refuses what is new, and goes on when there is space again', async t => {
  const disk = await mounted(t, 'size=3m')
  if (disk === undefined) return
  const filler = join(disk, 'filler')
  writeFileSync(filler, Buffer.alloc(1_500_000))
  await survives(t, opened(t, disk, GIBIBYTE), async () => rmSync(filler))
})

t.test('a disk that is full leaves everything acknowledged to the next process', async t => {
  const disk = await mounted(t, 'size=2m')
  if (disk === undefined) return
  const first = opened(t, disk, GIBIBYTE)
  const taken = await fill(first, 5_000)
  await first.close()
  t.equal((await opened(t, disk, GIBIBYTE).values.list('space')).length, taken)
})

t.test('a disk without space for a new file is refused with an error that names it', async t => {
  const disk = await mounted(t, 'size=8k')
  if (disk === undefined) return
  t.throws(() => opened(t, disk, GIBIBYTE), {
    message:
      /^data folder .*: the disk is full(, or the data file is as large as option maxData allows)?; choose another with --data, or keep nothing with --ephemeral$/
  })
})

t.test('a write that is refused takes no other of the same turn with it', async t => {
  const store = opened(t, await dataFolder(t), 400_000)
  const outcomes = await Promise.allSettled([
    store.values.increment('space', 'a', 1),
    store.values.put('space', 'large', 'x'.repeat(1_000_000)),
    store.values.increment('space', 'a', 1),
    store.values.put('space', 'small', 1)
  ])
  t.match(outcomes, [
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: REFUSED },
    { status: 'fulfilled', value: 2 },
    { status: 'fulfilled' }
  ])
  t.strictSame((await store.values.list('space')), [{ key: 'a', value: 2 }, { key: 'small', value: 1 }])
})

t.test('a file that is larger than is allowed now can be opened, read and cleared', async t => {
  const folder = await dataFolder(t)
  const first = opened(t, folder)
  await fill(first, 300)
  await first.close()
  const store = opened(t, folder, 100_000)
  t.equal((await store.values.list('space')).length, 300)
  t.equal(await store.values.delete('space', key(0)), true)
  await t.rejects(store.values.put('space', 'large', 'x'.repeat(200_000)), REFUSED)
})
