import type { Test } from 'tap'
import { until } from '../../support/wait.js'
import type { Open } from '../contract.js'

const FULL = { name: 'McpError', message: /^There are \d+ already/ }

/** On which terms a value is kept: until when, among how many, and unless there is one. */
export function terms (t: Test, open: Open): void {
  t.test('a value ceases to exist when its time is over', async t => {
    const box = await open(t)
    await box.store.values.put('space', 'a', 1, { expires: Date.now() + 86_400_000 })
    await box.store.values.put('space', 'b', 1, { expires: Date.now() - 1 })
    await box.store.values.put('space', 'c', 1)
    await box.pause()
    const { values } = box.store
    t.strictSame(await Promise.all(['a', 'b', 'c'].map(async key => await values.get('space', key))), [1, undefined, 1])
    t.strictSame((await values.list('space')).map(({ key }) => key), ['a', 'c'])
    t.strictSame((await values.list('space', { descending: true, limit: 2 })).map(({ key }) => key), ['c', 'a'])
    t.strictSame(await values.keys('space'), ['a', 'c'])
    t.equal(await values.delete('space', 'b'), false)
  })

  t.test('a value is there until then', async t => {
    const { store: { values } } = await open(t)
    const expires = await inTime(async expires => {
      await values.put('space', 'key', 1, { expires })
      await values.put('space', 'later', 1, { expires: expires + 20_000 })
      return await values.get('space', 'key') === 1
    })
    await until(async () => await values.get('space', 'key') === undefined, 'the end of the value')
    t.ok(Date.now() >= expires, 'not earlier')
    t.equal(await values.get('space', 'later'), 1, 'and not as late as another')
  })

  t.test('a value that is put again has the term it is given then', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 1, { expires: Date.now() - 1 })
    await values.put('space', 'key', 2)
    t.equal(await values.get('space', 'key'), 2)
    await values.put('space', 'key', 3, { expires: Date.now() - 1 })
    t.equal(await values.get('space', 'key'), undefined)
  })

  t.test('adding to a number changes nothing about its term', async t => {
    const { store: { values } } = await open(t)
    const expires = await inTime(async expires => {
      await values.put('space', 'key', 1, { expires })
      return await values.increment('space', 'key', 1) === 2
    })
    await until(async () => await values.get('space', 'key') === undefined, 'the end of the value')
    t.ok(Date.now() >= expires, 'not earlier')
    t.equal(await values.increment('space', 'key', 5), 5, 'and what is over counts no more')
  })

  t.test('a new entry beyond the limit is refused, one that is there is replaced', async t => {
    const box = await open(t)
    for (const key of ['a', 'b', 'c']) await box.store.values.put('space', key, 1, { max: 3 })
    await box.pause()
    const { values } = box.store
    await t.rejects(values.put('space', 'd', 1, { max: 3 }), FULL)
    await values.put('space', 'b', 2, { max: 3 })
    await values.put('other', 'd', 1, { max: 3 })
    t.strictSame(await values.list('space'), [{ key: 'a', value: 1 }, { key: 'b', value: 2 }, { key: 'c', value: 1 }])
    await values.delete('space', 'a')
    await values.put('space', 'd', 1, { max: 3 })
    await t.rejects(values.put('space', 'e', 1, { max: 3 }), FULL)
  })

  t.test('expired entries do not count against the limit', async t => {
    const { store: { values } } = await open(t)
    for (const key of ['a', 'b', 'c']) await values.put('space', key, 1, { max: 3, expires: Date.now() - 1 })
    await values.put('space', 'd', 1, { max: 1 })
    await t.rejects(values.put('space', 'a', 1, { max: 1 }), FULL)
    t.strictSame(await values.list('space'), [{ key: 'd', value: 1 }])
  })

  t.test('entries are counted right however they come and go', async t => {
    const box = await open(t)
    const other = await box.another?.()
    const isThere = new Set<string>()
    const limited = async (key: string): Promise<void> => {
      const { values } = box.store
      await t.rejects(values.put('space', key, 1, { max: isThere.size }), /already, which is as many/, `${key}: ${isThere.size} are there`)
      await values.put('space', key, 1, { max: isThere.size + 1 })
      isThere.add(key)
    }
    const gone = (key: string): void => { t.ok(isThere.delete(key)) }
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await limited(key)
    const { values } = box.store
    await values.delete('space', 'a').then(() => gone('a'))
    await values.delete('space', 'a')
    await values.take('space', 'b').then(() => gone('b'))
    await values.take('space', 'b')
    await limited('a')
    await values.put('space', 'c', 2)
    await values.swap('space', 'd', 1, 2, { expires: Date.now() + 60_000 })
    await values.swap('space', 'd', 1, 3)
    await values.increment('space', 'e', 1)
    await limited('b')
    await values.increment('space', 'new', 1).then(() => isThere.add('new'))
    await values.put('space', 'other', 1).then(() => isThere.add('other'))
    await values.put('space', 'short', 1, { expires: Date.now() - 1 })
    await values.put('space', 'h', 1, { expires: Date.now() - 1 }).then(() => gone('h'))
    await values.put('another space', 'x', 1)
    await limited('i')
    await (other ?? box.store).values.put('space', 'j', 1).then(() => isThere.add('j'))
    await (other ?? box.store).values.delete('space', 'f').then(() => gone('f'))
    await box.pause()
    await limited('k')
    await Promise.allSettled([box.store.values.put('space', 'l', 1), box.store.values.put('space', 'm', () => {})])
    isThere.add('l')
    await limited('n')
    for (const key of [...isThere]) await box.store.values.delete('space', key).then(() => gone(key))
    await limited('o')
    t.strictSame(await box.store.values.keys('space'), ['o'])
  })

  t.test('of many at once exactly as many are taken as there may be', async t => {
    const { store: { values } } = await open(t)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, index) => await values.put('space', String(index), 1, { max: 10 }))
    )
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10)
    t.equal((await values.list('space')).length, 10)
  })

  t.test('a value that is there is left alone when it is asked for, even where nothing new may come', async t => {
    const box = await open(t)
    await Promise.all(
      Array.from(
        { length: 20 },
        async (_, index) => await box.store.values.put('space', 'key', index, { ifAbsent: true })
      )
    )
    t.equal(await box.store.values.get('space', 'key'), 0)
    await box.pause()
    await box.store.values.put('space', 'key', 'later', { ifAbsent: true, max: 1 })
    t.equal(await box.store.values.get('space', 'key'), 0)
    await t.rejects(box.store.values.put('space', 'other', 1, { ifAbsent: true, max: 1 }), FULL)
  })

  t.test('an expired value is not there', async t => {
    const { store: { values } } = await open(t)
    await values.put('space', 'key', 'old', { expires: Date.now() - 1 })
    await values.put('space', 'key', 'new', { ifAbsent: true })
    t.equal(await values.get('space', 'key'), 'new')
  })
}

/**
 * Does something with a term that has to happen before it ends, with a longer term each time that it came too late;
 * returns the term.
 */
async function inTime (act: (expires: number) => Promise<boolean>, term = 300): Promise<number> {
  const expires = Date.now() + term
  if (await act(expires)) return expires
  if (Date.now() < expires) throw new Error(`${term} ms were not over, and yet the value was`)
  return await inTime(act, 4 * term)
}
