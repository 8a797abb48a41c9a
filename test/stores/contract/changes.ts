import type { Test } from 'tap'
import type { Values } from '../../../protocol/store.js'
import type { Open } from '../contract.js'

export function changes (t: Test, open: Open): void {
  t.test('listeners get every change before it is acknowledged', async t => {
    const { store: { values } } = await open(t)
    const received: string[] = []
    values.onChange((space, key) => { received.push(`${space}/${key}`) })
    const writes: Array<() => Promise<unknown>> = [
      async () => await values.put('space', 'put', 1),
      async () => await values.increment('space', 'number', 1),
      async () => await values.delete('space', 'put'),
      async () => await values.put('space', 'new', 1, { ifAbsent: true, max: 9 })
    ]
    for (const write of writes) {
      const before = received.length
      await write().then(() => t.equal(received.length, before + 1))
    }
    t.strictSame(received, ['space/put', 'space/number', 'space/put', 'space/new'])
  })

  t.test('listeners get changes in the order of the writes', async t => {
    const { store: { values } } = await open(t)
    const received: string[] = []
    values.onChange((_space, key) => { received.push(key) })
    const keys = Array.from({ length: 200 }, (_, index) => String(index * 7919 % 200))
    const settled: string[] = []
    await Promise.all(keys.map(async key => { await values.put('space', key, 1); settled.push(key) }))
    t.strictSame(received, keys)
    t.strictSame(settled, keys, 'and acknowledged in that order')
  })

  t.test('a write that changes nothing is not announced', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 'text')
    const received: string[] = []
    values.onChange((_space, key) => { received.push(key) })
    await Promise.allSettled([
      values.delete('space', 'absent'),
      values.put('space', 'key', 1, { ifAbsent: true }),
      values.put('space', 'full', 1, { max: 1 }),
      values.increment('space', 'key', 1),
      values.increment('space', 'key2', NaN),
      values.put('space', 'key', undefined),
      values.get('space', 'key')
    ])
    t.strictSame(received, [])
  })

  t.test('a listener that gets a change can read it', async t => {
    const { store: { values } } = await open(t)
    const found: Array<Promise<unknown>> = []
    values.onChange((space, key) => { found.push(values.get(space, key)) })
    await values.increment('space', 'key', 1)
    await values.increment('space', 'key', 1)
    t.strictSame(await Promise.all(found), [1, 2])
  })

  t.test('a removed listener gets no more changes, and the others still do', async t => {
    const { store: { values } } = await open(t)
    const received: string[] = []
    const stops = ['a', 'b', 'c'].map(name => values.onChange(() => { received.push(name) }))
    await values.put('space', 'key', 1)
    stops[1]?.()
    stops[1]?.()
    await values.put('space', 'key', 2)
    t.strictSame(received, ['a', 'b', 'c', 'a', 'c'])
  })

  t.test('a listener may write when it gets a change', async t => {
    const box = await open(t)
    const { values } = box.store
    const stop = values.onChange((space, key) => { if (space === 'cause') void values.increment('effect', key, 1) })
    await Promise.all(['a', 'b', 'a'].map(async key => await values.increment('cause', key, 1)))
    stop()
    await box.pause()
    t.strictSame(await box.store.values.list('effect'), [{ key: 'a', value: 2 }, { key: 'b', value: 1 }])
  })

  t.test('a listener that throws harms neither what was written nor the others', async t => {
    const { store: { values } } = await open(t)
    const received: string[] = []
    const stop = values.onChange(() => { throw new Error('a mistake of a listener') })
    values.onChange((_space, key) => { received.push(key) })
    const outcomes = await Promise.allSettled([increment(values, 'a'), increment(values, 'b')])
    stop()
    t.strictSame(await values.list('space'), [{ key: 'a', value: 1 }, { key: 'b', value: 1 }], 'written once')
    t.strictSame(outcomes.map(({ status }) => status), ['fulfilled', 'fulfilled'])
    t.strictSame(received, ['a', 'b'])
  })
}

async function increment (values: Values, key: string): Promise<number> {
  return await values.increment('space', key, 1)
}
