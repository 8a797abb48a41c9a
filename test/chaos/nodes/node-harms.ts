import { setTimeout as sleep } from 'node:timers/promises'
import { Burst } from './burst.js'
import type { Cluster } from './cluster.js'
import { nodesScenario } from './harm.js'

/** Longer than a node counts as alive that does nothing. */
const LEASE = 15_000

/** Nothing: what the others are compared with. */
export const calm = nodesScenario({
  title: 'nothing is harmed',
  defaults: { ms: 5_000 },
  run: async (_cluster, { ms }) => await sleep(ms)
})

/** A node that is killed with calls in flight, and started again. */
export const kill = nodesScenario({
  title: 'a node is killed with calls in flight',
  defaults: { calls: 200, last: 5_000 },
  allows: ['cut', 'failed'],
  run: async (cluster, { calls, last }, report, tally) => {
    const burst = new Burst(cluster, tally, 60_000)
    await burst.start(calls)
    cluster.victim.harmed = true
    burst.mark()
    cluster.victim.killedAt = performance.now()
    await cluster.victim.gateway.end('SIGKILL')
    await burst.end()
    await burst.compare(report)
    report.promise(burst.longest <= last, `each reply has its last event within ${last} ms, not ${burst.longest.toFixed()}`)
    await restart(cluster)
  }
})

/** A node that is stopped for longer than its lease, and goes on. */
export const stop = nodesScenario({
  title: 'a node is stopped for longer than its lease with calls in flight',
  defaults: { calls: 200, ms: LEASE + 5_000 },
  allows: ['cut', 'failed'],
  run: async (cluster, { calls, ms }, report, tally) => {
    const burst = new Burst(cluster, tally, 1_000)
    await burst.start(calls)
    const { victim } = cluster
    victim.harmed = true
    burst.mark()
    process.kill(victim.gateway.pid, 'SIGSTOP')
    await sleep(ms)
    process.kill(victim.gateway.pid, 'SIGCONT')
    await burst.end()
    await burst.compare(report)
    victim.harmed = false
  }
})

/** A node that has no Redis for a while: first all it sends is lost, then its connections are refused. */
export const cutOff = nodesScenario({
  title: 'one node is cut off from Redis',
  defaults: { ms: 30_000 },
  route: 'one',
  allows: ['refused', 'failed', 'lost', 'cut'],
  losesEvents: true,
  run: async ({ relay }, { ms }) => {
    relay.silence()
    await sleep(ms / 2)
    relay.cut()
    await sleep(ms / 2)
    relay.mend()
  }
})

async function restart (cluster: Cluster): Promise<void> {
  await cluster.restart()
  cluster.victim.harmed = false
}
