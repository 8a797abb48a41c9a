import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { now } from '../../../lib/time/clock.js'

t.test('the clock is in milliseconds and goes on when the time of day is set back', async t => {
  const [before, time] = [now(), Date.now]
  t.teardown(() => { Date.now = time })
  Date.now = () => 0
  await sleep(20)
  const passed = now() - before
  t.ok(passed >= 15 && passed < 10_000, `${passed} ms`)
})
