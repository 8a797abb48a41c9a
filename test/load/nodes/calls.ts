import { setTimeout as sleep } from 'node:timers/promises'
import { Report, type Scenario } from '../../support/report.js'
import { Client } from '../client.js'
import { judge } from '../mixed-calls.js'
import { asking, endless, mixed } from '../questions.js'
import type { Question } from '../transports/transport.js'
import { cpuTime, MIB, rssOf } from '../vitals.js'
import { Cluster } from './cluster.js'
import { nodeTransports } from './transports.js'

/** How long we listen for answers that come a second time. */
const AFTERWARDS = 500

const QUESTIONS: Record<string, (mark: string, id: number) => Question> = { questions: asking, cancellations: endless }

/**
 * Many calls of all kinds at once over three nodes, from clients that all count their ids from 0; each request goes to
 * the next node.
 */
export const nodes: Scenario<{ calls: number, clients: number, timeout: number }> = {
  defaults: { calls: 1_000_000, clients: 8, timeout: 60_000 },
  run: async ({ calls, clients, timeout }, { plugins = [], env = {}, say } = {}) => {
    const kinds = Object.keys(nodeTransports)
    const report = new Report(
      `nodes: ${calls} calls of ${kinds.length} kinds over three nodes behind nginx, ${clients} clients each`,
      say
    )
    const cluster = await Cluster.start(env, plugins)
    try {
      const everyone = (await Promise.all(kinds.map(async kind => await gather(cluster, kind, clients)))).flat()
      const before = cluster.nodes.map(({ pid }) => cpuTime(pid))
      const begun = performance.now()
      const quota = Math.ceil(calls / everyone.length)
      await Promise.all(
        everyone.map(async client => await client.drive(quota, QUESTIONS[client.kind] ?? mixed, timeout))
      )
      const seconds = (performance.now() - begun) / 1000
      await sleep(AFTERWARDS)
      for (const kind of kinds) report.row(figures(kind, everyone.filter(client => client.kind === kind)))
      report.note(
        `${(calls / seconds).toFixed()} calls/s, ${seconds.toFixed()} s; CPU of the nodes ${cluster.nodes.map(({ pid }, index) => `${((cpuTime(pid) - (before[index] ?? 0)) / 1_000_000).toFixed(1)} s, ${(rssOf(pid) / MIB).toFixed()} MiB`).join('; ')}`
      )
      judge(report, everyone, calls)
      await Promise.all(everyone.map(async ({ connection }) => await connection.close()))
      report.promise(cluster.complaints.length === 0, `nothing is logged as an error: ${cluster.complaints[0]}`)
    } finally {
      const ends = await cluster.stop()
      report.promise(ends.every(end => end === 0), `the gateways end with 0, not ${ends.join(', ')}`)
    }
    return report
  }
}

async function gather (cluster: Cluster, kind: string, count: number): Promise<Client[]> {
  const transport = nodeTransports[kind]
  if (transport === undefined) throw new Error(`there is no transport ${kind}`)
  return await Promise.all(
    Array.from(
      { length: count },
      async (_, index) => await Client.over(transport, cluster, kind, `${kind.replace(/\W+/g, '_')}-${index}`)
    )
  )
}

function figures (kind: string, clients: Client[]): Record<string, string | number> {
  const times = clients.flatMap(({ times }) => times).sort((a, b) => a - b)
  const sum = (of: (client: Client) => number): number => clients.reduce((total, client) => total + of(client), 0)
  return {
    kind,
    answered: sum(({ ledger }) => ledger.answered),
    lost: sum(({ ledger }) => ledger.open),
    refused: sum(({ ledger }) => ledger.refused),
    doubled: sum(({ ledger }) => ledger.doubled),
    misrouted: sum(({ ledger }) => ledger.misrouted),
    'p50 ms': times[Math.floor(times.length / 2)] ?? 0,
    'p99 ms': times[Math.floor(times.length * 0.99)] ?? 0
  }
}
