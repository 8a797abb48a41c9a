import type { Test } from 'tap'
import type { Values } from '../../../protocol/store.js'
import type { Open } from '../contract.js'

// By code point, which is neither the order of UTF-16 units (where U+FF5E comes after the emoji) nor that of any
// language.
const SORTED = [
  '\u0001',
  ' ',
  '10',
  '2',
  'A',
  'Z',
  '__proto__',
  'a',
  'aa',
  'b',
  'z',
  'Ä',
  'ß',
  'é',
  '中',
  '\ud7ff',
  '\ue000',
  '\ufeff',
  '\uff5e',
  '\uffff',
  '\u{10000}',
  '😀',
  '😀a',
  '\u{10ffff}'
]
const ABSENT = ['0', '1', 'ab', 'zz', '\ud7fe', '\ufffe', '\u{10001}', '😀b', '\u{10fffe}']

export function order (t: Test, open: Open): void {
  t.test('keys are in the order of their code points, and in the other one', async t => {
    const box = await filled(t, open)
    t.strictSame(await keys(box.store.values, {}), SORTED)
    t.strictSame(await keys(box.store.values, { descending: true }), [...SORTED].reverse())
  })

  t.test('a list begins after any key, whether or not it is there', async t => {
    const { store: { values } } = await filled(t, open)
    for (const after of [...SORTED, ...ABSENT]) {
      const follow = SORTED.filter(key => compare(key, after) > 0)
      const precede = SORTED.filter(key => compare(key, after) < 0).reverse()
      t.strictSame(await keys(values, { after }), follow, `after ${JSON.stringify(after)}`)
      t.strictSame(await keys(values, { after, descending: true }), precede, `before ${JSON.stringify(after)}`)
    }
  })

  t.test('a list is as long as it may be', async t => {
    const { store: { values } } = await filled(t, open)
    for (const limit of [0, 1, 5, SORTED.length, SORTED.length + 1]) {
      t.strictSame(await keys(values, { limit }), SORTED.slice(0, limit), String(limit))
      t.strictSame(
        await keys(values, { limit, descending: true }),
        [...SORTED].reverse().slice(0, limit),
        String(limit)
      )
    }
  })

  for (const descending of [false, true]) {
    t.test(`pages are the whole list, ${descending ? 'descending' : 'ascending'}, while entries change`, async t => {
      const { store: { values } } = await filled(t, open)
      const whole = descending ? [...SORTED].reverse() : SORTED
      const seen: string[] = []
      for (let after: string | undefined; ;) {
        const page = await keys(values, { after, limit: 3, descending })
        if (page.length === 0) break
        seen.push(...page)
        after = page.at(-1)
        // What was passed already is no part of the pages to come.
        await values.delete('space', page[0] as string)
      }
      t.strictSame(seen, whole)
    })
  }

  t.test('a space is listed without those beside it', async t => {
    const { store: { values } } = await open(t)
    for (const space of ['a', 'aa', 'a\u0001', 'b', '😀']) await values.put(space, 'key', space)
    t.strictSame(await values.list('a'), [{ key: 'key', value: 'a' }])
    t.strictSame(await values.list('a', { after: 'k', limit: 10 }), [{ key: 'key', value: 'a' }])
  })

  t.test('a thousand entries keep their order when half of them go', async t => {
    const box = await open(t)
    const all = Array.from({ length: 1_000 }, (_, index) => String(index * 7919 % 1_000).padStart(4, '0'))
    await Promise.all(all.map(async key => await box.store.values.put('space', key, key)))
    await Promise.all(
      all.filter(key => Number(key) % 2 === 1).map(async key => await box.store.values.delete('space', key))
    )
    await box.pause()
    t.strictSame(await keys(box.store.values, {}), all.filter(key => Number(key) % 2 === 0).sort())
  })
}

async function filled (t: Test, open: Open) {
  const box = await open(t)
  for (const key of [...SORTED].sort(() => Math.random() - 0.5)) await box.store.values.put('space', key, 1)
  await box.pause()
  return box
}

async function keys (values: Values, options: object): Promise<string[]> {
  const [keys, entries] = [await values.keys('space', options), await values.list('space', options)]
  if (keys.join() !== entries.map(({ key }) => key).join()) {
    throw new Error(`the keys and the keys of the entries differ: ${keys.join()}`)
  }
  return keys
}

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
