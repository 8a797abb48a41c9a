import t from 'tap'
import { limiter } from '../../../system/rate/limiter.js'
import type { RedisLink } from '../../../system/redis/connection.js'
import { until } from '../../support/wait.js'

t.test('as many as the burst are allowed at once, and a refusal gives the time to wait', async t => {
  const ask = limiter({ name: 'x', rate: 2, burst: 5 })
  for (let token = 1; token <= 5; token++) t.equal(await ask('a', 1), 0)
  const ms = await ask('a', 1)
  t.ok(ms > 0 && ms <= 1_000, String(ms))
  const refusedAt = performance.now()
  let ready: number | undefined
  await until(() => {
    void ask('a', 1).then(wait => { if (wait === 0) ready ??= performance.now() })
    return ready !== undefined
  })
  t.ok(ready as number - refusedAt >= ms - 50, 'not before')
})

t.test('a burst that is smaller than the rate counts as the rate', async t => {
  const ask = limiter({ name: 'x', rate: 3, burst: 1 })
  for (let token = 1; token <= 3; token++) t.equal(await ask('a', 1), 0)
  t.not(await ask('a', 1), 0)
})

t.test('counts of different things are different', async t => {
  const [one, other] = ['x', 'y'].map(name => limiter({ name, rate: 1, burst: 1 }))
  t.equal(await one?.('a', 1), 0)
  t.equal(await other?.('a', 1), 0)
})

t.test('where Redis fails, this process counts', async t => {
  const broken = { isReady: true, eval: async () => { throw new Error('no') } } as unknown as RedisLink
  const away = { isReady: false } as unknown as RedisLink
  for (const link of [broken, away]) {
    const ask = limiter({ name: 'x', rate: 1, burst: 3 }, link)
    for (let token = 1; token <= 3; token++) t.equal(await ask('a', 1), 0)
    t.not(await ask('a', 1), 0)
  }
})
