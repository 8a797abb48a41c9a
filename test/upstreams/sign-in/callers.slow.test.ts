import t from 'tap'
import { mixCalls } from './callers.js'

t.test('10,000 mixed calls of two callers: no token of one is in a request of the other', async t => {
  t.setTimeout(600_000)
  await mixCalls(t, 10_000)
})

t.test('the same over HTTP+SSE, where each caller has a stream of its own', async t => {
  await mixCalls(t, 1_000, 'HTTP+SSE')
})
