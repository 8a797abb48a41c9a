import t from 'tap'
import { Refresher } from '../../../upstreams/lists/reading/refresher.js'
import { until } from '../../support/wait.js'

t.test('what asks again and again is run ever more seldom, and soon again after a rest', async t => {
  const runs: number[] = []
  let isEndless = true
  const refresher: Refresher = new Refresher(async () => {
    runs.push(performance.now())
    if (isEndless) setImmediate(() => refresher.request())
  }, 10)
  t.teardown(() => refresher.close())
  // A timer of its own, because those of the refresher let the process end.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  refresher.request()
  await until(() => runs.length === 6, 'six runs')
  isEndless = false
  const waits = runs.slice(1).map((moment, index) => moment - (runs[index] ?? 0))
  // A timer may fire a little early, and late on a busy machine.
  t.ok([10, 20, 40, 80, 160].every((least, index) => (waits[index] ?? 0) >= least - 2), `the waits were ${waits.map(Math.round).join(', ')} ms`)
})
