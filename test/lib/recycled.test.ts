import t from 'tap'
import { RecycledMap, RecycledSet } from '../../lib/recycled.js'

/** The same done to both. */
function both<T> (...items: T[]) {
  const passing = new RecycledSet<T>()
  const set = new Set<T>()
  const add = (item: T): void => { passing.add(item); set.add(item) }
  for (const item of items) add(item)
  return {
    passing,
    set,
    add,
    /** True when both return the same. */
    remove: (item: T): boolean => passing.delete(item) === set.delete(item),
    isSame: (): boolean =>
      passing.size === set.size &&
      [...set].every(item => passing.has(item)) &&
      [...passing].every((item, index) => Object.is(item, [...set][index]))
  }
}

t.test('it holds each item once, in the order of addition', async t => {
  const { passing, isSame } = both<unknown>('b', 'a', 'b', undefined, 1, '1', NaN, NaN)
  t.strictSame([...passing], ['b', 'a', undefined, 1, '1', NaN])
  t.equal(passing.size, 6)
  t.ok(isSame())
  t.ok(passing.has(undefined) && passing.has(NaN))
  t.notOk(passing.has('nobody'))
})

t.test('removing an item returns whether it was there', async t => {
  const { passing, remove, isSame } = both('a', 'b')
  t.ok(passing.has('a'))
  t.ok(remove('a') && remove('a') && remove('never'))
  t.notOk(passing.has('a'))
  t.ok(isSame())
  t.ok(remove('b'))
  t.equal(passing.size, 0)
  t.strictSame([...passing], [])
})

t.test('it behaves like any set while thousands of items are added and removed', async t => {
  for (const staying of [0, 1, 32, 33, 64, 400]) {
    const { passing, add, remove, isSame } = both<string>()
    for (let index = 0; index < staying; index++) add(`stays ${index}`)
    let same = true
    for (let index = 0; index < 3_000 && same; index++) {
      add(`passes ${index}`)
      if (index >= 5) same = remove(`passes ${index - 5}`)
      if (index % 500 === 0) same &&= isSame()
    }
    t.ok(same && isSame(), `${staying} stay`)
    t.equal(passing.size, staying + 5)
  }
})

t.test('an item that is added again and again is held once, and removed once', async t => {
  const { passing, add, remove } = both('one')
  for (let times = 0; times < 1_000; times++) add('one')
  t.strictSame([...passing], ['one'])
  t.ok(remove('one') && remove('one'))
  t.equal(passing.size, 0)
})

t.test('an iteration sees all items that were there when it began', async t => {
  const { passing } = both(1, 2, 3)
  const seen: number[] = []
  for (const item of passing) {
    seen.push(item)
    for (const gone of [1, 2, 3]) passing.delete(gone)
    // More than a set is made anew after.
    for (let more = 0; more < 200; more++) passing.add(item * 1_000 + more)
  }
  t.strictSame(seen, [1, 2, 3])
  t.equal(passing.size, 600)
  t.notOk(passing.has(1))
})

t.test('two that look at it do not disturb each other', async t => {
  const { passing } = both('a', 'b', 'c')
  const [one, other] = [passing[Symbol.iterator](), passing[Symbol.iterator]()]
  t.equal(one.next().value, 'a')
  passing.delete('b')
  t.strictSame([other.next().value, other.next().value, other.next().value, other.next().done], ['a', 'b', 'c', true])
  t.equal(one.next().value, 'b')
  const [first] = passing
  t.equal(first, 'a')
})

t.test('what was set stays, in its order, however much is set and deleted meanwhile', async t => {
  const map = new RecycledMap<number, string>()
  map.set(-1, 'kept')
  for (let key = 0; key < 1_000; key++) {
    map.set(key, 'passing')
    t.ok(map.delete(key))
  }
  map.set(1_000, 'last')
  t.equal(map.delete(5), false)
  t.equal(map.size, 2)
  t.equal(map.get(-1), 'kept')
  t.strictSame(map.keys(), [-1, 1_000])
  t.strictSame(map.values(), ['kept', 'last'])
})
