import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { now, TimeOfDay } from '../../../lib/time/clock.js'

/** Two clocks that are turned by hand, while something is done. */
function turning (work: (clocks: { day: number, other: number }, time: () => number) => void): void {
  const clocks = { day: 1_800_000_000_000, other: 12.5 }
  const { now } = Date
  Date.now = () => Math.floor(clocks.day)
  const timeOfDay = new TimeOfDay()
  try {
    work(clocks, () => timeOfDay.at(clocks.other))
  } finally {
    Date.now = now
  }
}

t.test('it is what Date.now says', async t => {
  const timeOfDay = new TimeOfDay()
  for (let step = 0; step < 8; step++) {
    const before = Date.now()
    const at = timeOfDay.at(now())
    const after = Date.now()
    t.ok(at >= before - 3 && at <= after + 3, `${at} is between ${before} and ${after}`)
    t.ok(Number.isInteger(at), 'in whole milliseconds')
    // Long enough that the two are compared anew.
    await sleep(60)
  }
})

t.test('it goes on while the other clock does', async t => turning((clocks, time) => {
  const before = time()
  t.equal(before, 1_800_000_000_000)
  for (let step = 1; step <= 1_000; step++) {
    clocks.day += 0.7
    clocks.other += 0.7
    t.ok(Math.abs(time() - clocks.day) <= 2)
  }
}))

t.test('it never goes back while nobody sets the clock, though one of the two tells whole milliseconds alone', async t => turning((clocks, time) => {
  for (let step = 0, last = 0; step < 5_000; step++) {
    clocks.day += 0.37
    clocks.other += 0.37
    const at = time()
    if (at < last) t.fail(`${last} was followed by ${at}`)
    last = at
  }
  t.pass()
}))

t.test('whoever sets the clock, forward or back, is followed', async t => {
  for (const jump of [3_600_000, -3_600_000, 10, -10]) {
    turning((clocks, time) => {
      time()
      clocks.day += jump
      clocks.day += 100
      clocks.other += 100
      t.equal(time(), clocks.day, `${jump} ms`)
    })
  }
})

t.test('a clock that goes slower than the other one is followed', async t => turning((clocks, time) => {
  for (let step = 0; step < 1_000; step++) {
    clocks.day += 10
    clocks.other += 10.01
    if (Math.abs(time() - clocks.day) > 3) t.fail(`${time() - clocks.day} ms apart`)
  }
  t.pass()
}))
