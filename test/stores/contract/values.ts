import type { Test } from 'tap'
import type { Open } from '../contract.js'

const VALUES: Record<string, unknown> = {
  null: null,
  false: false,
  zero: 0,
  'a small number': 5e-324,
  'a large number': 1.7976931348623157e308,
  'empty text': '',
  'a line break': 'a\r\nb\u2028c',
  'a zero byte': 'a\0b',
  'half a pair': 'a\ud800b',
  emoji: '👩‍👩‍👧 𝒳',
  'text like JSON': '{"a":1}',
  'text like SQL': "'); DROP TABLE entries; --",
  'an empty array': [],
  'an empty object': {},
  'nested things': { a: [{ b: null }, [[]], 'c'] },
  'a mebibyte of text': 'ä'.repeat(1_048_576),
  'a key that objects have': JSON.parse('{"__proto__":{"a":1},"constructor":2}')
}

const KEYS = [
  '__proto__',
  'constructor',
  'toString',
  '%',
  '_',
  '*',
  "'",
  '"',
  ' ',
  'a',
  'a ',
  ' a',
  'A',
  'é',
  'e\u0301',
  'ß',
  '\n',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '😀',
  '0',
  '00',
  '1e0',
  'null',
  'x'.repeat(1_024)
]
const NO_KEYS: Record<string, string> = {
  'empty text': '',
  'a zero byte': 'a\0',
  'half a pair': '\ud800',
  'the other half': 'a\udc00b',
  '1,025 characters': 'x'.repeat(1_025)
}

export function values (t: Test, open: Open): void {
  t.test('what is not there is undefined', async t => {
    const { store: { values } } = await open(t)
    t.equal(await values.get('space', 'key'), undefined)
    t.equal(await values.delete('space', 'key'), false)
    t.strictSame(await values.list('space'), [])
    t.strictSame(await values.keys('space'), [])
  })

  t.test('a value that several take at once goes to one of them', async t => {
    const box = await open(t)
    t.equal(await box.store.values.take('space', 'key'), undefined)
    await box.store.values.put('space', 'key', { a: 1 })
    await box.pause()
    const { values } = box.store
    t.strictSame(
      (await Promise.all([1, 2, 3].map(async () => await values.take('space', 'key')))).filter(
        value => value !== undefined
      ),
      [{ a: 1 }]
    )
    t.equal(await values.get('space', 'key'), undefined)
    await values.put('space', 'old', 1, { expires: Date.now() - 1 })
    t.equal(await values.take('space', 'old'), undefined)
  })

  for (const [name, value] of Object.entries(VALUES)) {
    t.test(`${name} comes back as it was`, async t => {
      const box = await open(t)
      await box.store.values.put('space', 'key', value)
      await box.pause()
      t.strictSame(await box.store.values.get('space', 'key'), value)
      t.strictSame(await box.store.values.list('space'), [{ key: 'key', value }])
    })
  }

  t.test('a value that JSON cannot express is refused, and the old value stays', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 'before')
    const circle: unknown[] = []
    circle.push(circle)
    for (const value of [undefined, () => {}, Symbol('s'), 1n, circle, { toJSON () { throw new Error('private') } }]) {
      await t.rejects(
        values.put('space', 'key', value),
        { name: 'McpError', message: /^Storage failed: / },
        typeof value
      )
    }
    t.equal(await values.get('space', 'key'), 'before')
  })

  t.test('what is kept is a copy', async t => {
    const { store: { values } } = await open(t)
    const value = { list: [1] }
    const kept = values.put('space', 'key', value)
    value.list.push(2)
    await kept
    const first = await values.get('space', 'key') as typeof value
    t.strictSame(first, { list: [1] })
    first.list.push(3)
    t.strictSame(await values.get('space', 'key'), { list: [1] })
  })

  t.test('keys are distinct, however odd or alike they are', async t => {
    const box = await open(t)
    await Promise.all(KEYS.map(async (key, index) => await box.store.values.put('space', key, index)))
    await box.pause()
    const { values } = box.store
    for (const [index, key] of KEYS.entries()) {
      t.equal(await values.get('space', key), index, JSON.stringify(key).slice(0, 20))
    }
    t.equal((await values.list('space')).length, KEYS.length)
    for (const key of KEYS) t.equal(await values.delete('space', key), true)
    t.strictSame(await values.list('space'), [])
  })

  t.test('spaces are distinct, however odd they are', async t => {
    const box = await open(t)
    for (const [index, space] of KEYS.entries()) await box.store.values.put(space, 'key', index)
    await box.pause()
    for (const [index, space] of KEYS.entries()) {
      t.strictSame(await box.store.values.list(space), [{ key: 'key', value: index }])
    }
  })

  for (const [name, text] of Object.entries(NO_KEYS)) {
    t.test(`${name} is no key and no space`, async t => {
      const { store: { values } } = await open(t)
      const why = { name: 'McpError', message: /^Storage failed: a key is/ }
      await t.rejects(values.put('space', text, 1), why)
      await t.rejects(values.put(text, 'key', 1), why)
      await t.rejects(values.increment('space', text, 1), why)
      t.strictSame(await values.list('space'), [])
    })
  }

  t.test('an invalid key is never taken for an existing one', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', '\ufffd', 1)
    await values.put('\ufffd', 'key', 1)
    for (const half of ['\ud800', '\udc00']) {
      t.notOk(await values.get('space', half).catch(() => undefined))
      t.notOk(await values.get(half, 'key').catch(() => undefined))
      t.notOk(await values.delete('space', half).catch(() => false))
      t.notOk(await values.delete(half, 'key').catch(() => false))
    }
    t.equal(await values.get('space', '\ufffd'), 1)
    t.equal(await values.get('\ufffd', 'key'), 1)
  })

  t.test('a value is replaced and deleted once', async t => {
    const box = await open(t)
    await box.store.values.put('space', 'key', 1)
    await box.pause()
    await box.store.values.put('space', 'key', 2)
    await box.pause()
    t.equal(await box.store.values.get('space', 'key'), 2)
    const deleted = await Promise.all([1, 2, 3].map(async () => await box.store.values.delete('space', 'key')))
    t.strictSame(deleted, [true, false, false])
    await box.pause()
    t.equal(await box.store.values.get('space', 'key'), undefined)
  })

  t.test('the last of many writes to one key stays', async t => {
    const box = await open(t)
    await Promise.all(
      Array.from({ length: 500 }, async (_, index) => await box.store.values.put('space', 'key', index))
    )
    await box.pause()
    t.equal(await box.store.values.get('space', 'key'), 499)
  })
}
