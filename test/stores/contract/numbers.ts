import type { Test } from 'tap'
import type { Open } from '../contract.js'

const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number

export function numbers (t: Test, open: Open): void {
  t.test('a number begins at 0 and is added to', async t => {
    const box = await open(t)
    t.equal(await box.store.values.increment('space', 'key', 3), 3)
    await box.pause()
    t.equal(await box.store.values.increment('space', 'key', -5), -2)
    await box.pause()
    t.equal(await box.store.values.increment('space', 'key', 0), -2)
    t.equal(await box.store.values.get('space', 'key'), -2)
    await box.store.values.put('space', 'key', 40)
    t.equal(await box.store.values.increment('space', 'key', 2), 42)
  })

  t.test('a thousand additions at once give each sum once', async t => {
    const box = await open(t)
    const sums = await Promise.all(
      Array.from({ length: 1_000 }, async () => await box.store.values.increment('space', 'key', 1))
    )
    t.strictSame(sums, Array.from({ length: 1_000 }, (_, index) => index + 1))
    await box.pause()
    t.equal(await box.store.values.get('space', 'key'), 1_000)
  })

  t.test('additions in several turns and to several numbers add up', async t => {
    const { store: { values } } = await open(t)
    await Promise.all(Array.from({ length: 10 }, async (_, worker) => {
      for (let count = 0; count < 50; count++) await values.increment('space', String(worker % 3), 1)
    }))
    t.strictSame(await values.list('space'), [
      { key: '0', value: 200 },
      { key: '1', value: 150 },
      { key: '2', value: 150 }
    ])
  })

  t.test('the largest and the smallest safe integer are reached and not passed', async t => {
    const box = await open(t)
    for (const [key, edge] of [['max', MAX_SAFE_INTEGER], ['min', MIN_SAFE_INTEGER]] as const) {
      t.equal(await box.store.values.increment('space', key, edge), edge)
      await box.pause()
      await t.rejects(box.store.values.increment('space', key, Math.sign(edge)), {
        name: 'McpError',
        message: /have no sum/
      })
      t.equal(await box.store.values.get('space', key), edge)
      t.equal(await box.store.values.increment('space', key, -edge), 0)
    }
  })

  t.test('what is no safe integer is not added, and nothing changes', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 7)
    for (const by of [0.5, NaN, Infinity, -Infinity, 2 ** 53, 1e300]) {
      await t.rejects(values.increment('space', 'key', by), { name: 'McpError', message: /have no sum/ }, String(by))
      await t.rejects(values.increment('space', 'new', by), { name: 'McpError' }, String(by))
    }
    t.strictSame(await values.list('space'), [{ key: 'key', value: 7 }])
  })

  t.test('what is no number is not added to', async t => {
    const { store: { values } } = await open(t)
    for (const value of ['1', null, true, [1], {}, 1.5]) {
      await values.put('space', 'key', value)
      await t.rejects(values.increment('space', 'key', 1), { name: 'McpError' }, JSON.stringify(value))
      t.strictSame(await values.get('space', 'key'), value)
    }
  })

  t.test('what is refused takes nothing with it that was asked in the same turn', async t => {
    const box = await open(t)
    const { values } = box.store
    const outcomes = await Promise.allSettled([
      values.increment('space', 'a', 1),
      values.increment('space', 'a', 0.5),
      values.put('space', 'b', 1, { max: 0 }),
      values.put('space', 'c', undefined),
      values.put('space', '', 1),
      values.increment('space', 'a', 1),
      values.put('space', 'd', 1)
    ])
    t.strictSame(outcomes.map(({ status }) => status === 'fulfilled'), [true, false, false, false, false, true, true])
    await box.pause()
    t.strictSame(await box.store.values.list('space'), [{ key: 'a', value: 2 }, { key: 'd', value: 1 }])
  })
}
