import t from 'tap'
import { bucketOf, BUCKETS } from '../../../../protocol/watch/statistics/log-buckets.js'
import { Rates } from '../../../../protocol/watch/statistics/rates.js'

const START = 1_000_000_000

t.test('buckets are ordered, and each is less than a fifth wide', async t => {
  t.equal(bucketOf(0), 0)
  t.equal(bucketOf(Infinity), BUCKETS - 1)
  for (let ms = 0.02; ms < 1e6; ms *= 1.07) t.ok([0, 1].includes(bucketOf(ms * 1.07) - bucketOf(ms)), String(ms))
})

t.test('each second has its own calls, and seconds without any are told, too', async t => {
  const rates = new Rates(START)
  for (let call = 0; call < 100; call++) rates.add(START + 500, call < 95 ? 1 : 100, call === 0, 'a')
  rates.add(START + 2_500, 1, false, undefined)
  rates.moveTo(START + 3_000)
  t.match(rates.secondsFrom(0), [
    { at: START, calls: 100, errors: 1 },
    { at: START + 1_000, calls: 0, p50: 0 },
    { at: START + 2_000, calls: 1 }
  ])
  const { p50, p95, p99 } = rates.secondsFrom(0)[0] ?? { p50: 0, p95: 0, p99: 0 }
  t.strictSame([p50, p95, p99].map(bucketOf), [1, 1, 100].map(bucketOf))
  t.equal(rates.secondsFrom(2).length, 1)
})

t.test('after five minutes calls do not count any more', async t => {
  const rates = new Rates(START)
  rates.add(START, 1, true, 'a')
  rates.moveTo(START + 290_000)
  t.match([rates.totals, rates.byName], [{ calls: 1, errors: 1 }, [{ name: 'a', calls: 1 }]])
  rates.moveTo(START + 310_000)
  t.match([rates.totals, rates.byName], [{ calls: 0, errors: 0 }, []])
  t.equal(rates.secondsFrom(0).length, 300)
})

t.test('a clock that is set stops nothing', async t => {
  const rates = new Rates(START)
  for (const time of [START + 1e9, START - 1e6]) {
    rates.moveTo(time)
    rates.add(time + 100, 1, false, 'a')
    rates.moveTo(time + 1_000)
    t.match(rates.secondsFrom(rates.completed - 1), [{ at: time, calls: 1 }])
  }
})

t.test('after the clock was set back, calls leave the window all the same', async t => {
  const rates = new Rates(START)
  rates.add(START, 1, false, 'a')
  rates.moveTo(START + 10_000)
  rates.moveTo(START - 3_600_000)
  rates.add(START - 3_600_000, 1, false, 'b')
  rates.moveTo(START - 3_600_000 + 200_000)
  t.equal(rates.totals.calls, 2)
  rates.moveTo(START - 3_600_000 + 310_000)
  t.match([rates.totals, rates.byName], [{ calls: 0 }, []])
})

t.test('beyond 1,000 names the rest is counted together', async t => {
  const rates = new Rates(START)
  for (let name = 0; name < 1_010; name++) rates.add(START, 1, false, `tool ${name}`)
  t.equal(rates.byName.length, 1_001)
  t.match(rates.byName[0], { name: 'others', calls: 10 })
})
