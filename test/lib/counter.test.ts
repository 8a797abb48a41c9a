import t from 'tap'
import { Counter } from '../../lib/counter.js'

t.test('counts each key apart', async t => {
  const counter = new Counter()
  for (const key of ['a', 'b', 'a', '__proto__']) counter.increment(key)
  t.strictSame(['a', 'b', '__proto__', 'c'].map(key => counter.get(key)), [2, 1, 1, 0])
  t.equal(counter.size, 3)
})

t.test('forgets a key whose count is 0, and never counts below that', async t => {
  const counter = new Counter()
  counter.increment('a')
  counter.decrement('a')
  counter.decrement('a')
  t.equal(counter.size, 0)
  counter.increment('a')
  t.equal(counter.get('a'), 1)
})
