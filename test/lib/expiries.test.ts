import t from 'tap'
import { Expiries } from '../../lib/expiries.js'

t.test('keys are taken in the order in which they expire, each once', async t => {
  const living = new Map<string, number>()
  const expiries = new Expiries((key, expires) => living.get(key) === expires)
  // Every number below 1,009 once, in no order.
  for (let count = 1, number = 1; count < 1_009; count++, number = number * 11 % 1_009) {
    living.set(`k${number}`, number)
    expiries.add(`k${number}`, number)
  }
  for (let number = 1; number < 1_009; number += 3) living.delete(`k${number}`)
  living.set('k2', 5_000)
  expiries.add('k2', 5_000)
  const taken: string[] = []
  for (const time of [0, 10, 500, 1_008]) taken.push(...expiries.takeUntil(time))
  const all = Array.from({ length: 1_008 }, (_, index) => index + 1)
  const expected = all.filter(number => number % 3 !== 1 && number !== 2)
  t.strictSame(taken, expected.map(number => `k${number}`))
  t.strictSame(expiries.takeUntil(4_999), [])
  t.strictSame(expiries.takeUntil(5_000), ['k2'])
  t.strictSame(expiries.takeUntil(Infinity), [])
})
