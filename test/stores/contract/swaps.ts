import type { Test } from 'tap'
import type { Open } from '../contract.js'

/** How a value is replaced that nothing else has replaced meanwhile. */
export function swaps (t: Test, open: Open): void {
  t.test('a value is swapped if it still is what it was', async t => {
    const box = await open(t)
    await box.store.values.put('space', 'key', { a: [1, 'ä'], b: null })
    await box.pause()
    t.equal(await box.store.values.swap('space', 'key', { a: [1, 'ä'] }, 1), false)
    t.equal(await box.store.values.swap('space', 'key', { a: [1, 'ä'], b: null }, { c: 2 }), true)
    await box.pause()
    t.strictSame(await box.store.values.get('space', 'key'), { c: 2 })
    t.equal(await box.store.values.swap('space', 'key', await box.store.values.get('space', 'key'), 3), true)
    t.strictSame(await box.store.values.list('space'), [{ key: 'key', value: 3 }])
  })

  t.test('a value that is not there, or not any more, is not swapped', async t => {
    const { store: { values } } = await open(t)
    t.equal(await values.swap('space', 'key', null, 1), false)
    await values.put('space', 'old', 1, { expires: Date.now() - 1 })
    t.equal(await values.swap('space', 'old', 1, 2), false)
    t.strictSame(await values.list('space'), [])
  })

  t.test('of many that swap one value, one gets it', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 0)
    const swapped = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => await values.swap('space', 'key', 0, index + 1))
    )
    t.equal(swapped.filter(Boolean).length, 1)
    t.equal(await values.get('space', 'key'), swapped.indexOf(true) + 1)
  })

  t.test('a swapped value has the term of the swap', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 1, { expires: Date.now() + 86_400_000 })
    await values.put('space', 'other', 1)
    t.equal(await values.swap('space', 'key', 1, 2, { expires: Date.now() - 1 }), true)
    t.equal(await values.get('space', 'key'), undefined)
    t.equal(await values.swap('space', 'other', 1, 2), true)
    t.equal(await values.get('space', 'other'), 2)
  })

  t.test('a swap with an invalid key or value is refused, and the value stays', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 1)
    const why = { name: 'McpError', message: /^Storage failed: / }
    await t.rejects(values.swap('space', '', 1, 2), why)
    await t.rejects(values.swap('space', 'key', 1, undefined), why)
    t.equal(await values.get('space', 'key'), 1)
  })
}
