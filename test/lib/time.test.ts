import t from 'tap'
import { now, withTimeout } from '../../lib/time.js'
import { stopTime } from '../support/clocks.js'

const HOUR = 3_600_000
const never = new Promise<never>(() => {})

t.test('settles like a promise that is in time', async t => {
  t.equal(await withTimeout(Promise.resolve(1), HOUR, () => 2), 1)
  await t.rejects(withTimeout(Promise.reject(new Error('own')), HOUR, () => 2), { message: 'own' })
})

t.test('settles with what the timeout returns or throws', async t => {
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  t.equal(await withTimeout(never, 1, () => 'late'), 'late')
  await t.rejects(withTimeout(never, 1, () => { throw new Error('late') }), { message: 'late' })
})

t.test('leaves no timer behind, and does not call the timeout in vain', async t => {
  const { pass } = stopTime(t)
  let calls = 0
  await withTimeout(Promise.resolve(), 1, () => { calls++ })
  await pass(20)
  t.equal(calls, 0)
})

t.test('the clock is in milliseconds and goes on when the time of day is set back', async t => {
  const [before, time] = [now(), Date.now]
  t.teardown(() => { Date.now = time })
  Date.now = () => 0
  const end = process.hrtime.bigint() + 20_000_000n
  while (process.hrtime.bigint() < end);
  const passed = now() - before
  t.ok(passed >= 20, `${passed} ms`)
})
