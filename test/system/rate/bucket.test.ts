import { runInNewContext } from 'node:vm'
import { setFlagsFromString } from 'node:v8'
import t from 'tap'
import { Bucket } from '../../../system/rate/bucket.js'
import { limiter } from '../../../system/rate/limiter.js'
import { until } from '../../support/wait.js'

/** Where tokens are kept, and how often it was asked. */
function purse (tokens: number, ms = 60_000) {
  const asked: number[] = []
  let left = tokens
  const ask = async (_key: string, wanted: number) => {
    asked.push(wanted)
    if (left < wanted) return ms
    left -= wanted
    return 0
  }
  return { ask, asked }
}

t.test('at small rates each token is fetched by itself, and the count is exact', async t => {
  const { ask, asked } = purse(3)
  const bucket = new Bucket(ask, 1_999)
  t.teardown(() => bucket.close())
  const taken = await Promise.all([1, 2, 3, 4, 5].map(async () => await bucket.take('a')))
  t.strictSame(taken.map(ms => ms === 0), [true, true, true, false, false])
  t.strictSame(asked, [1, 1, 1, 1], 'those who wait when there is nothing are told at once')
})

t.test('at large rates tokens are fetched ahead and no call waits, not even the first', async t => {
  const { ask, asked } = purse(1_000_000)
  const bucket = new Bucket(ask, 50_000)
  t.teardown(() => bucket.close())
  for (let call = 0; call < 500; call++) {
    t.equal(bucket.take('a'), 0)
    await Promise.resolve().then(() => {}).then(() => {})
  }
  t.ok(asked.length >= 9 && asked.length <= 11, String(asked.length))
  t.ok(asked.every(tokens => tokens === 50))
})

t.test('waiting takes are served in order, and share what is fetched for them', async t => {
  const { ask, asked } = purse(1_000_000)
  const bucket = new Bucket(ask, 10_000)
  t.teardown(() => bucket.close())
  const order: number[] = []
  const takes = Array.from({ length: 100 }, async (_each, index) => { await bucket.take('a'); order.push(index) })
  await Promise.all(takes)
  t.strictSame(order, [...order].sort((one, other) => one - other))
  t.equal(asked.length, 10)
})

t.test('while the bucket is empty it is not asked again', async t => {
  const { ask, asked } = purse(0)
  const bucket = new Bucket(ask, 1)
  t.teardown(() => bucket.close())
  t.ok(await bucket.take('a') as number > 0)
  for (let call = 0; call < 100; call++) t.ok(bucket.take('a') as number > 59_000)
  t.equal(asked.length, 1)
})

t.test('keys do not touch each other', async t => {
  const bucket = new Bucket(limiter({ name: 'x', rate: 1, burst: 1 }), 1)
  t.teardown(() => bucket.close())
  t.equal(await bucket.take('a'), 0)
  t.ok(await bucket.take('a') as number > 0)
  t.equal(await bucket.take('b'), 0)
})

t.test('tokens that were fetched and not used expire', async t => {
  const { ask, asked } = purse(1_000_000)
  const bucket = new Bucket(ask, 50_000)
  t.teardown(() => bucket.close())
  t.equal(bucket.take('a'), 0)
  t.equal(bucket.size, 1)
  await until(() => bucket.size === 0)
  t.equal(bucket.take('a'), 0)
  t.equal(asked.length, 2)
})

t.test('no memory is held after a flood of keys', async t => {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  const heap = () => { collect(); return process.memoryUsage().heapUsed }
  const bucket = new Bucket(limiter({ name: 'x', rate: 1, burst: 2 }), 1)
  t.teardown(() => bucket.close())
  const flood = async (keys: number) => {
    for (let key = 0; key < keys; key += 1_000) {
      await Promise.all(Array.from({ length: 1_000 }, async (_each, index) => await bucket.take(`key-${key + index}`)))
    }
  }
  await flood(1_000)
  await until(() => bucket.size === 0)
  const before = heap()
  await flood(100_000)
  const during = heap()
  t.ok(during - before > 10 * 2 ** 20, `it was a flood: ${during - before} bytes`)
  await until(() => bucket.size === 0)
  await until(() => heap() - before < 3 * 2 ** 20)
})

t.test('where tokens cannot be fetched, takes do not wait for ever, and the next one asks again', async t => {
  const asked: number[] = []
  const bucket = new Bucket(async (_key, wanted) => { asked.push(wanted); throw new Error('away') }, 1_999)
  t.teardown(() => bucket.close())
  t.equal(await bucket.take('a'), 0)
  t.equal(await bucket.take('a'), 0)
  t.equal(asked.length, 2)
})
