import t from 'tap'
import { Collection } from '../../../protocol/definitions/collection.js'
import { PreparedResult } from '../../../protocol/wire/result.js'

function filled (keys: string[]): Collection<string> {
  const collection = new Collection<string>('thing')
  for (const key of keys) collection.add(key, `<${key}>`)
  return collection
}

/** Reads page by page, as a client does, with something happening between the pages. */
function readAll (collection: Collection<string>, size: number, between: (page: number) => void = () => {}): string[] {
  const seen: string[] = []
  let after: string | undefined
  for (let page = 1; ; page++) {
    const { items, last } = collection.page(after, size)
    seen.push(...items)
    if (last === undefined) return seen
    after = last
    between(page)
  }
}

t.test('items come in the order of their keys, whatever the order they were added in', async t => {
  t.strictSame(filled(['b', 'a', 'C', '10', '9']).page(undefined, 10).items, ['<10>', '<9>', '<C>', '<a>', '<b>'])
})

t.test('the last page names no place to go on from', async t => {
  const collection = filled(['a', 'b', 'c', 'd'])
  t.strictSame(collection.page(undefined, 3), { items: ['<a>', '<b>', '<c>'], last: 'c' })
  t.strictSame(collection.page('c', 3), { items: ['<d>'], last: undefined })
  t.strictSame(collection.page(undefined, 4), { items: ['<a>', '<b>', '<c>', '<d>'], last: undefined })
  t.strictSame(new Collection('thing').page(undefined, 3), { items: [], last: undefined })
})

t.test('paging goes on after a key that was removed meanwhile', async t => {
  const collection = filled(['a', 'b', 'c', 'd'])
  const { last } = collection.page(undefined, 2)
  collection.remove('b')
  t.strictSame(collection.page(last, 2).items, ['<c>', '<d>'])
})

t.test('an item that stays while a client pages is seen exactly once', async t => {
  const stable = Array.from({ length: 50 }, (_, index) => `m${String(index).padStart(2, '0')}`)
  const leaving = stable.map(key => `${key}-leaving`)
  const collection = filled([...stable, ...leaving])
  const seen = readAll(collection, 7, page => {
    collection.add(`a${page}`, `before ${page}`)
    collection.add(`m${page}x`, `inside ${page}`)
    collection.remove(leaving[page * 3] as string)
    collection.remove(leaving[49 - page] as string)
  })
  t.strictSame(seen.filter(item => /^<m\d\d>$/.test(item)), stable.map(key => `<${key}>`))
  t.equal(new Set(seen).size, seen.length, 'nothing twice')
})

t.test('a key that is taken is refused, and the first thing stays', async t => {
  const collection = filled(['a'])
  t.throws(() => collection.add('a', 'other'), { message: /there is a thing "a" already/ })
  t.equal(collection.get('a'), '<a>')
  t.equal(collection.size, 1)
})

t.test('a key that was removed can be added again', async t => {
  const collection = filled(['a'])
  t.equal(collection.remove('a'), true)
  collection.add('a', 'new')
  t.equal(collection.get('a'), 'new')
})

t.test('keys that every object has are keys like any other', async t => {
  const collection = filled(['constructor', '__proto__', 'toString'])
  t.equal(collection.get('__proto__'), '<__proto__>')
  t.equal(collection.get('hasOwnProperty'), undefined)
  t.strictSame(collection.page(undefined, 5).items, ['<__proto__>', '<constructor>', '<toString>'])
})

t.test('each change is announced once, and nothing else is', async t => {
  const collection = filled(['a'])
  let changes = 0
  const off = collection.onChange(() => { changes++ })
  collection.add('b', 'b')
  t.equal(changes, 1)
  t.throws(() => collection.add('b', 'b'))
  t.equal(collection.remove('missing'), false)
  t.equal(changes, 1, 'what changed nothing is not announced')
  collection.remove('b')
  t.equal(changes, 2)
  off()
  collection.add('c', 'c')
  t.equal(changes, 2, 'a listener that left hears nothing')
})

t.test('a listener sees the collection as it is after the change', async t => {
  const collection = filled(['a'])
  const sizes: number[] = []
  collection.onChange(() => { sizes.push(collection.page(undefined, 10).items.length) })
  collection.add('b', 'b')
  collection.remove('a')
  t.strictSame(sizes, [2, 1])
})

t.test('values derived from the items are dropped with a change', async t => {
  const collection = filled(['a'])
  collection.derived.set('page', new PreparedResult('text'))
  collection.remove('missing')
  t.equal(collection.derived.get('page')?.text, 'text')
  collection.add('b', 'b')
  t.equal(collection.derived.size, 0)
})

t.test('listeners hear which items a change took out and put in', async t => {
  const collection = new Collection<string>('thing')
  const heard: Array<[removed: readonly string[], put: readonly string[]]> = []
  collection.onItems(({ removed, put }) => { heard.push([removed, put]) })
  const during = (change: () => unknown): unknown => {
    change()
    return heard.splice(0)
  }
  const relayed = (key: string, item: string) => ({ key, item })
  t.strictSame(during(() => collection.relay([], [relayed('a', 'a1'), relayed('b', 'b1')])), [[[], ['a1', 'b1']]])
  t.strictSame(during(() => collection.relay(['b'], [relayed('a', 'a2')])), [[['b1', 'a1'], ['a2']]])
  t.strictSame(during(() => collection.add('a', 'own')), [[['a2'], ['own']]], 'a relayed item gives way')
  t.strictSame(during(() => collection.relay(['a'], [relayed('a', 'a3')])), [[[], []]], 'what is hidden is not told')
  t.strictSame(during(() => collection.remove('a')), [[['own'], ['a3']]], 'and comes back')
  t.strictSame(during(() => collection.replace('a', 'again')), [[['a3'], ['again']]])
  t.strictSame(during(() => collection.remove('missing')), [])
  t.strictSame(during(() => collection.clear()), [[['again'], []]])
})

t.test('items that are not listed are found by their keys, are on no page, and change none', async t => {
  const collection = new Collection<string>('thing')
  let [changes, all] = [0, 0]
  collection.onPages(() => { changes++ })
  collection.onChange(() => { all++ })
  const put = (key: string, unlisted?: boolean): void => { collection.relay([], [{ key, item: `<${key}>`, unlisted }]) }
  for (const key of ['a', 'c']) put(key)
  t.equal(changes, 2)
  collection.derived.set('page', new PreparedResult('{}'))
  for (const key of ['b', 'd']) put(key, true)
  collection.relay(['d'], [{ key: 'e', item: '<e>', unlisted: true, spellings: ['f'] }])
  t.strictSame([changes, all], [2, 5])
  t.ok(collection.derived.has('page'))
  t.strictSame(readAll(collection, 1), ['<a>', '<c>'])
  t.strictSame(collection.page(undefined, 5, key => key !== 'a').items, ['<c>'])
  t.strictSame(['b', 'd', 'e', 'f'].map(key => collection.get(key)), ['<b>', undefined, '<e>', '<e>'])
  t.strictSame(collection.keys(), ['a', 'b', 'c', 'e'])
  put('b')
  t.equal(changes, 3, 'it is listed now')
  t.strictSame(readAll(collection, 2), ['<a>', '<b>', '<c>'])
  put('c', true)
  t.equal(changes, 4, 'and this one is not any more')
  t.strictSame(readAll(collection, 2), ['<a>', '<b>'])
  collection.clear()
  put('c')
  t.strictSame(readAll(collection, 2), ['<c>'])
})
