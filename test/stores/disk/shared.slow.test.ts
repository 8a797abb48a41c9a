import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Store } from '../../../protocol/store.js'
import { bestTime, timeOf } from '../../support/timing.js'
import { until } from '../../support/wait.js'
import { dataFolder, FILE, opened } from '../../support/environment/on-disk.js'
import { worker } from './worker.js'

async function soon (condition: () => boolean | Promise<boolean>): Promise<void> {
  await until(condition, 'a change in another store')
}

t.test('two stores in one process add up and get the changes of each other', async t => {
  const folder = await dataFolder(t)
  const [one, two] = [opened(t, folder), opened(t, folder)]
  const received: string[][] = [[], []]
  ;[one, two].forEach((store, index) =>
    store.values.onChange((space, key) => {
      received[index]?.push(`${space}/${key}`)
    })
  )
  await Promise.all(
    Array.from(
      { length: 100 },
      async (_, index) => await (index % 2 === 0 ? one : two).values.increment('numbers', 'sum', 1)
    )
  )
  t.equal(await one.values.get('numbers', 'sum'), 100)
  t.equal(await two.values.get('numbers', 'sum'), 100)
  await soon(() => received.every(changes => changes.length === 100))
  await one.values.put('space', 'from one', 1)
  await two.values.delete('space', 'from one')
  await soon(() => received.every(changes => changes.length === 102))
  for (const [index, store] of [one, two].entries()) await store.values.put('space', `last ${index}`, 1)
  await soon(() => received.every(changes => changes.includes('space/last 0') && changes.includes('space/last 1')))
  t.strictSame(received.map(changes => changes.length), [104, 104], 'each change is heard of once')
  t.strictSame(
    received.map(changes => changes.slice(100, 102)),
    [
      ['space/from one', 'space/from one'],
      ['space/from one', 'space/from one']
    ]
  )
})

t.test('a change reaches another store within two seconds', async t => {
  const folder = await dataFolder(t)
  const [one, two] = [opened(t, folder), opened(t, folder)]
  const received = new Set<string>()
  two.values.onChange((_space, key) => { received.add(key) })
  let count = 0
  const best = await bestTime(2_000, async () => {
    const key = String(count++)
    await one.values.put('space', key, 1)
    return await timeOf(async () => await soon(() => received.has(key)))
  })
  t.ok(best < 2_000, `${Math.round(best)} ms`)
})

t.test('changes of another store arrive in order, and can be read then', async t => {
  const folder = await dataFolder(t)
  const [one, two] = [opened(t, folder), opened(t, folder)]
  const received: string[] = []
  const found: Array<Promise<unknown>> = []
  two.values.onChange((space, key) => { received.push(key); found.push(two.values.get(space, key)) })
  const keys = Array.from({ length: 300 }, (_, index) => String(index * 7919 % 300))
  for (const key of keys) void one.values.put('space', key, key)
  await soon(() => received.length === 300)
  t.strictSame(received, keys)
  t.strictSame(await Promise.all(found), keys)
})

t.test('every change of another store arrives, however many come at once', async t => {
  const folder = await dataFolder(t)
  const [one, two] = [opened(t, folder), opened(t, folder)]
  const received = new Set<string>()
  two.values.onChange((_space, key) => { received.add(key) })
  await Promise.all(Array.from({ length: 12_000 }, async (_, index) => await one.values.put('space', String(index), 1)))
  await soon(() => received.has('11999'))
  t.equal(received.size, 12_000)
})

t.test('processes add up exactly, and get the changes of each other', async t => {
  const folder = await dataFolder(t)
  const children = [worker(t), worker(t)]
  await Promise.all(children.map(async child => await child.ask('open', folder)))
  const here = opened(t, folder)
  const received: string[] = []
  here.values.onChange((space, key) => { received.push(`${space}/${key}`) })
  await Promise.all([
    ...children.map(async child => await child.ask('add', 'sum', 500, 10)),
    ...children.map(async (child, index) => await child.ask('add', `own ${index}`, 200, 1)),
    ...Array.from({ length: 100 }, async () => await here.values.increment('numbers', 'sum', 1))
  ])
  t.strictSame(await here.values.list('numbers'), [
    { key: 'own 0', value: 200 },
    { key: 'own 1', value: 200 },
    { key: 'sum', value: 1_100 }
  ])
  for (const child of children) t.strictSame(await child.ask('list', 'numbers'), await here.values.list('numbers'))
  await soon(() => received.length === 1_500)
  await soon(async () =>
    (await Promise.all(children.map(async child => ((await child.ask('heard')) as string[]).length))).every(
      length => length === 1_500
    )
  )
  t.equal(received.filter(change => change === 'numbers/sum').length, 1_100)
})

t.test('eight processes that make the first file at the same moment make one', async t => {
  const children = Array.from({ length: 8 }, () => worker(t))
  await Promise.all(children.map(async child => await child.ask('ready')))
  // It takes many rounds for the moments to meet.
  for (let round = 0; round < 40; round++) {
    const folder = await dataFolder(t)
    await Promise.all(children.map(async child => await child.ask('open', folder)))
    await Promise.all(children.map(async (child, index) => await child.ask('put', 'space', String(index), index)))
    t.strictSame(
      await opened(t, folder).values.list('space'),
      children.map((_, index) => ({ key: String(index), value: index }))
    )
    t.strictSame(
      readdirSync(folder).filter(name => !name.startsWith(FILE) || name.endsWith('.new')),
      [],
      'and no drafts are left'
    )
    await Promise.all(children.map(async child => await child.ask('close')))
  }
})

t.test('a process that is killed while it writes leaves everything it acknowledged', async t => {
  const folder = await dataFolder(t)
  for (let round = 0; round < 4; round++) {
    const child = worker(t)
    await child.ask('open', folder)
    child.send('fill', 0, `space ${round}`, 0)
    await until(() => child.acknowledged.length >= 50 + 37 * round)
    await child.kill()
    const kept = (await opened(t, folder).values.list(`space ${round}`)).map(({ key }) => Number(key))
    t.strictSame(
      child.acknowledged.filter(number => !kept.includes(number)),
      [],
      `${child.acknowledged.length} were acknowledged`
    )
    t.strictSame(kept, Array.from(kept, (_, index) => index), 'nothing is missing before the last one')
  }
})

t.test('a process that locks the file delays others for their timeout, not longer', async t => {
  const folder = await dataFolder(t)
  const store = opened(t, folder)
  await store.values.put('space', 'key', 1)
  const child = worker(t, `${folder}/${FILE}`)
  await child.ask('hold', 60_000)
  t.equal(await store.values.get('space', 'key'), 1, 'reading goes on')
  const begun = performance.now()
  const outcomes = await Promise.allSettled(
    [1, 2].map(async value => await store.values.put('space', `key ${value}`, value))
  )
  for (const outcome of outcomes) {
    t.match(outcome, {
      status: 'rejected',
      reason: { message: 'Storage failed: another process keeps the data file locked' }
    })
  }
  t.ok(performance.now() - begun > 1_500, 'they are patient')
  t.equal(store.failure, 'another process keeps the data file locked')
  await child.kill()
  await store.values.put('space', 'key', 2)
  t.equal(store.failure, undefined)
})

t.test('the event loop goes on while a write waits for another process, and writes stay in order', async t => {
  const folder = await dataFolder(t)
  const store = opened(t, folder)
  await store.values.put('space', 'key', 0)
  const child = worker(t, `${folder}/${FILE}`)
  await child.ask('hold', 60_000)
  const done: string[] = []
  const writes = Array.from({ length: 600 }, async (_, index) => {
    await store.values.put('space', 'key', index)
    if (index % 599 === 0) done.push(`write ${index}`)
  })
  // Each turn of the event loop takes part in the order of what happens, and nothing else does.
  for (let turns = 0; turns < 3; turns++) {
    await turn()
    t.equal(await store.values.get('space', 'key'), 0, 'reading goes on')
  }
  done.push('turns')
  await child.kill()
  await Promise.all(writes)
  t.strictSame(done, ['turns', 'write 0', 'write 599'])
  t.equal(await store.values.get('space', 'key'), 599)
})

t.test('a store that closes while writes wait for a lock writes them first, or rejects', async t => {
  const folder = await dataFolder(t)
  const stores = [opened(t, folder), opened(t, folder)]
  const child = worker(t, `${folder}/${FILE}`)
  await child.ask('hold', 60_000)
  const [one, two] = stores as [Store, Store]
  const refused = t.rejects(one.values.put('space', 'one', 1), {
    message: 'Storage failed: another process keeps the data file locked'
  })
  await one.close()
  await refused
  const written = two.values.put('space', 'two', 2)
  const closed = two.close()
  await child.kill()
  await Promise.all([written, closed])
  t.equal(await opened(t, folder).values.get('space', 'two'), 2)
})

t.test('a node that others have removed as dead is known again once it renews its lease', async t => {
  const intervals: Array<() => void> = []
  const { setInterval: begin } = globalThis
  t.intercept(globalThis, 'setInterval', {
    value: (run: () => void, ms: number) => {
      intervals.push(run)
      return begin(run, ms)
    }
  })
  const folder = await dataFolder(t)
  const [one, two] = [opened(t, folder), opened(t, folder)]
  const { self: id } = one.nodes
  await one.sessions.takeOver('http://127.0.0.1:1')
  t.equal(await two.nodes.isAlive(id ?? ''), true)
  await two.sessions.takeOver('http://127.0.0.1:1')
  t.equal(await two.nodes.isAlive(id ?? ''), false)
  for (const run of intervals) run()
  await until(async () => await two.nodes.isAlive(id ?? ''), 'the renewal')
  await one.close()
  for (const run of intervals) run()
  t.equal(await two.nodes.isAlive(id ?? ''), false, 'a node that has ended stays unknown')
})
