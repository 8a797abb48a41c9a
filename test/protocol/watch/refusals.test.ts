import t from 'tap'
import type { Refusal } from '../../../protocol/wire/errors.js'
import { Refusals } from '../../../protocol/watch/refusals.js'

const START = 1_000_000_000

t.test('refusals count for five minutes, the latest first', async t => {
  const refusals = new Refusals()
  const refusal: Refusal = { reason: 'rate', status: 429 }
  refusals.add(refusal, START)
  refusals.add(refusal, START + 200_000.4)
  refusals.add({ reason: 'origin', status: 403 }, START + 100_000)
  t.strictSame(refusals.rows(START + 200_001), [
    { reason: 'rate', status: 429, count: 2, last: START + 200_000 },
    { reason: 'origin', status: 403, count: 1, last: START + 100_000 }
  ])
  t.strictSame(refusals.rows(START + 450_000), [{ reason: 'rate', status: 429, count: 1, last: START + 200_000 }])
  t.strictSame(refusals.rows(START + 600_000), [])
})

t.test('refusals that are never read are forgotten after five minutes, too', async t => {
  const refusals = new Refusals()
  for (let slot = 0; slot < 1_000; slot++) refusals.add({ reason: 'rate', status: 429 }, START + slot * 5_000)
  t.match(refusals.rows(START + 999 * 5_000), [{ count: 60 }])
})

t.test('what was counted before the time of day was set back does not count for ever', async t => {
  const refusals = new Refusals()
  refusals.add({ reason: 'rate', status: 429 }, START)
  t.strictSame(refusals.rows(START - 3_600_000), [])
})
