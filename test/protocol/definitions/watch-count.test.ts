import t from 'tap'
import { ANONYMOUS_ALL_SCOPES } from '../../../protocol/wire/identity.js'
import { WatchCount } from '../../../protocol/definitions/subscriptions/watch-count.js'

/** Watches that start and fail when the test decides. */
function watches () {
  const begun: Array<{
    uri: string
    start: (stop?: (() => void) | null) => void
    fail: (why: Error) => void
    stops: number
  }> = []
  const count = new WatchCount(async uri => await new Promise((resolve, reject) => {
    const one = {
      uri,
      stops: 0,
      start: (stop: (() => void) | null = () => { one.stops++ }) => resolve(stop ?? undefined),
      fail: reject
    }
    begun.push(one)
  }))
  return { count, begun, first: () => begun[0] as (typeof begun)[number] }
}

const settled = async (): Promise<void> => await new Promise(resolve => setImmediate(resolve))

t.test('a URI is watched once for all who are interested, until the last one is not', async t => {
  const { count, begun, first } = watches()
  const release = [
    count.acquire('a', ANONYMOUS_ALL_SCOPES),
    count.acquire('a', ANONYMOUS_ALL_SCOPES),
    count.acquire('a', ANONYMOUS_ALL_SCOPES)
  ]
  t.equal(begun.length, 1)
  first().start()
  const [one, two, three] = await Promise.all(release)
  one?.()
  two?.()
  await settled()
  t.equal(first().stops, 0)
  three?.()
  await settled()
  t.equal(first().stops, 1)
})

t.test('each URI has a watch of its own', async t => {
  const { count, begun } = watches()
  const [a, b] = [count.acquire('a', ANONYMOUS_ALL_SCOPES), count.acquire('b', ANONYMOUS_ALL_SCOPES)]
  for (const watch of begun) watch.start()
  ;(await a)?.()
  await settled()
  t.strictSame(begun.map(({ uri, stops }) => [uri, stops]), [['a', 1], ['b', 0]])
  ;(await b)?.()
})

t.test('losing interest twice counts once', async t => {
  const { count, first } = watches()
  const both = [count.acquire('a', ANONYMOUS_ALL_SCOPES), count.acquire('a', ANONYMOUS_ALL_SCOPES)]
  first().start()
  const [one, two] = await Promise.all(both)
  one?.()
  one?.()
  await settled()
  t.equal(first().stops, 0)
  two?.()
  two?.()
  await settled()
  t.equal(first().stops, 1)
})

t.test('interest that comes back begins a new watch', async t => {
  const { count, begun } = watches()
  for (let round = 0; round < 3; round++) {
    const release = count.acquire('a', ANONYMOUS_ALL_SCOPES)
    begun[round]?.start()
    ;(await release)?.()
  }
  await settled()
  t.strictSame(begun.map(({ stops }) => stops), [1, 1, 1])
})

t.test('interest in what cannot be watched is none, for all that wait', async t => {
  const { count, begun, first } = watches()
  const both = [count.acquire('a', ANONYMOUS_ALL_SCOPES), count.acquire('a', ANONYMOUS_ALL_SCOPES)]
  first().start(null)
  t.strictSame(await Promise.all(both), [undefined, undefined])
  const again = count.acquire('a', ANONYMOUS_ALL_SCOPES)
  t.equal(begun.length, 2, 'it is tried again')
  begun[1]?.start()
  t.type(await again, 'function')
})

t.test('a watch that cannot start fails for all that wait, and is tried again for the next', async t => {
  const { count, begun, first } = watches()
  const both = [count.acquire('a', ANONYMOUS_ALL_SCOPES), count.acquire('a', ANONYMOUS_ALL_SCOPES)]
  first().fail(new Error('too many files'))
  for (const one of both) await t.rejects(one, { message: 'too many files' })
  const again = count.acquire('a', ANONYMOUS_ALL_SCOPES)
  begun[1]?.start()
  t.type(await again, 'function')
})

t.test('a watch that throws at once fails like one that rejects', async t => {
  const count = new WatchCount(() => { throw new Error('at once') })
  await t.rejects(count.acquire('a', ANONYMOUS_ALL_SCOPES), { message: 'at once' })
  await t.rejects(count.acquire('a', ANONYMOUS_ALL_SCOPES), { message: 'at once' })
})

t.test('the end stops what is watched, and what is still starting as soon as it has', async t => {
  const { count, begun } = watches()
  void count.acquire('a', ANONYMOUS_ALL_SCOPES)
  void count.acquire('b', ANONYMOUS_ALL_SCOPES)
  begun[0]?.start()
  await settled()
  count.stopAll()
  await settled()
  t.strictSame(begun.map(({ stops }) => stops), [1, 0])
  begun[1]?.start()
  await settled()
  t.strictSame(begun.map(({ stops }) => stops), [1, 1])
})

t.test('a watch that stopAll ended is not stopped again by a later release', async t => {
  const { count, first } = watches()
  const release = count.acquire('a', ANONYMOUS_ALL_SCOPES)
  first().start()
  const lost = await release
  count.stopAll()
  lost?.()
  count.stopAll()
  await settled()
  t.equal(first().stops, 1)
})

t.test('a watch whose end throws harms no other', async t => {
  const { count, first } = watches()
  const release = count.acquire('a', ANONYMOUS_ALL_SCOPES)
  first().start(() => { throw new Error('cannot stop') })
  const lost = await release
  // An unhandled rejection fails this test by itself.
  t.doesNotThrow(() => lost?.())
  await settled()
})
