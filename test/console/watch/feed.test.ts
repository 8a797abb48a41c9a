import t from 'tap'
import { effect } from '@preact/signals'
import type { EndedCall, Second, WatchBatch } from '../../../console/client/watch-batch.js'
import { Feed, MAX_CALLS, MAX_SECONDS } from '../../../console/watch/feed.js'

const gateway = { name: 'patchbay', version: '1.0.0', startedAt: 0 }
const call = (ms: number): EndedCall => ({
  at: ms,
  ms,
  method: 'tools/call',
  tool: 'echo',
  outcome: 'ok',
  transport: 'http',
  revision: 'any'
})
const second = (at: number): Second => ({ at, calls: 1, errors: 0, p50: 1, p95: 1, p99: 1 })
const first = (more: Partial<WatchBatch> = {}): WatchBatch => ({ requestId: 1, at: 0, gateway, ...more })
const next = (more: Partial<WatchBatch>): WatchBatch => ({ requestId: 1, at: 0, ...more })
const range = (length: number): number[] => Array.from({ length }, (_, index) => index)

function fed (...batches: WatchBatch[]): Feed {
  const feed = new Feed()
  for (const batch of batches) feed.take(batch)
  feed.publish()
  return feed
}

t.test('calls and seconds are added, and what was left out is summed up', async t => {
  const { signals } = fed(
    first({ ended: [call(1)], seconds: [second(1000)], dropped: 2 }),
    next({ ended: [call(2), call(3)], seconds: [second(2000)], dropped: 5 })
  )
  t.strictSame(signals.calls.value.map(({ ms, number }) => [ms, number]), [[1, 1], [2, 2], [3, 3]])
  t.strictSame(signals.seconds.value.map(({ at }) => at), [1000, 2000])
  t.equal(signals.dropped.value, 7)
})

t.test('a part that a batch has replaces the one before, and a part that it lacks stays', async t => {
  const { signals } = fed(
    first({
      health: { status: 'healthy', ready: true },
      nodes: [{ id: 'a', self: true }],
      inFlight: { total: 1, rows: [] }
    }),
    next({ health: { status: 'degraded', ready: true, reason: 'the disk is full' } })
  )
  t.strictSame(signals.health.value, { status: 'degraded', ready: true, reason: 'the disk is full' })
  t.strictSame(signals.nodes.value, [{ id: 'a', self: true }])
  t.equal(signals.inFlight.value.total, 1)
  t.strictSame(signals.gateway.value, gateway)
})

t.test('no more than a thousand calls and five minutes are kept, the newest ones', async t => {
  const { signals } = fed(
    first(),
    ...range(30).map(() => next({ ended: range(200).map(call), seconds: range(20).map(second) }))
  )
  t.equal(signals.calls.value.length, MAX_CALLS)
  t.equal(signals.calls.value.at(-1)?.number, 6000)
  t.equal(signals.seconds.value.length, MAX_SECONDS)
})

t.test('nothing is drawn before it is published, and then once for all batches', async t => {
  const feed = new Feed()
  let draws = -1
  t.teardown(effect(() => {
    void feed.signals.calls.value
    void feed.signals.dropped.value
    draws++
  }))
  for (const batch of [first({ ended: [call(1)] }), next({ ended: [call(2)], dropped: 1 })]) feed.take(batch)
  t.equal(draws, 0)
  feed.publish()
  t.equal(draws, 1)
  feed.publish()
  t.equal(draws, 1)
})

t.test('a part that has not changed is not drawn again', async t => {
  const feed = fed(first({ tools: [] }))
  let draws = -1
  t.teardown(effect(() => {
    void feed.signals.tools.value
    draws++
  }))
  feed.take(next({ ended: [call(1)] }))
  feed.publish()
  t.equal(draws, 0)
})

t.test('batches of a watch that was ended before are not taken', async t => {
  const feed = fed(first({ ended: [call(1)] }))
  t.equal(feed.take({ ...first({ ended: [call(2)] }), requestId: 2 }), true)
  t.equal(feed.take(next({ ended: [call(3)] })), false)
  feed.publish()
  t.strictSame(feed.signals.calls.value.map(({ ms }) => ms), [2])
})

t.test('a watch on a new connection begins anew, also with the same number', async t => {
  const feed = fed(first({ ended: [call(1)], dropped: 3 }), first({ ended: [call(2)] }))
  t.strictSame(feed.signals.calls.value.map(({ ms }) => ms), [2])
  t.equal(feed.signals.dropped.value, 0)
})

t.test('a batch before the first of its watch is not taken', async t => {
  const feed = new Feed()
  t.equal(feed.take(next({ ended: [call(1)] })), false)
})

t.test('the clock of the gateway is told by the batch that travelled shortest', async t => {
  const feed = new Feed()
  feed.take({ ...first(), at: 10_000 }, 4_000)
  feed.take({ ...next({}), at: 11_000 }, 4_900)
  feed.take({ ...next({}), at: 12_000 }, 6_500)
  feed.publish()
  t.equal(feed.signals.ahead.value, 6_100)
})
