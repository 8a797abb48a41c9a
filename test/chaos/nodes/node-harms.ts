import { setTimeout as sleep } from 'node:timers/promises'
import { Burst } from './burst.js'
import type { Cluster } from './cluster.js'
import { nodesScenario } from './harm.js'
import { recovery } from './recovery.js'

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
    const { victim } = cluster
    await burst.start(calls)
    victim.harmed = true
    burst.mark()
    victim.killedAt = performance.now()
    await victim.gateway.end('SIGKILL')
    const [recovered] = await Promise.all([recovery(cluster, cluster.others, victim.killedAt), burst.end()])
    await burst.compare(report)
    report.promise(
      burst.longest <= last,
      `each reply has its last event within ${last} ms, not ${burst.longest.toFixed()}`
    )
    report.note(
      `the others worked ${recovered.toFixed()} ms after the death of the node, which took ${(await restart(cluster)).toFixed()} ms to start again`
    )
    return Math.max(recovered, await recovery(cluster))
  }
})

/**
 * A node that is stopped for longer than its lease, and goes on. Clients resume elsewhere meanwhile: what the node
 * sends afterwards comes too late.
 */
export const stop = nodesScenario({
  title: 'a node is stopped for longer than its lease with calls in flight',
  defaults: { calls: 200, ms: LEASE + 5_000 },
  allows: ['cut', 'failed'],
  run: async (cluster, { calls, ms }, report, tally) => {
    const burst = new Burst(cluster, tally, 15_000)
    await burst.start(calls)
    const { victim } = cluster
    victim.harmed = true
    burst.mark()
    process.kill(victim.gateway.pid, 'SIGSTOP')
    burst.leave()
    await sleep(ms)
    process.kill(victim.gateway.pid, 'SIGCONT')
    const recovered = await recovery(cluster)
    await burst.end()
    await burst.compare(report)
    report.promise(
      burst.longest <= ms,
      `each reply has its last event before the node goes on, not after ${burst.longest.toFixed()} ms`
    )
    victim.harmed = false
    return recovered
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

/** Starts the victim again; how long that took. */
async function restart (cluster: Cluster): Promise<number> {
  const begun = performance.now()
  await cluster.restart()
  cluster.victim.harmed = false
  return performance.now() - begun
}
