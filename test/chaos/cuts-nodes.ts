import { setTimeout as sleep } from 'node:timers/promises'
import { Report } from '../support/report.js'
import { cutStreams } from './cuts.js'
import { Gateway, temporary } from './gateway.js'
import { Cluster } from './nodes/cluster.js'
import { scenario } from './scenario.js'

/**
 * How many numbers are sent in one turn: slowly, because what is sent while the client goes to another node has to fit
 * into the stored events.
 */
const PER_TURN = 2

/**
 * Runs `cuts` with another node at each reconnect: on one Redis, on one whose connections are killed, and on one
 * data folder.
 */
export const cutsNodes = scenario({ events: 10_000, cuts: 200, kill: 1_000 }, async ({ events, cuts, kill }) => {
  const report = new Report(
    `cuts-nodes: ${events} events on a stream that is cut ${cuts} times, with another node at each reconnect`
  )
  const cluster = await Cluster.start()
  const ports = cluster.nodes.map(({ gateway }) => gateway.port)
  const options = { events, cuts, perTurn: PER_TURN, together: true }
  await cutStreams(report, ports, options, ', three nodes')
  const killing = new AbortController()
  const killed = killConnections(cluster, kill, killing.signal)
  await cutStreams(report, ports, options, `, connections to Redis killed every ${kill} ms`)
  killing.abort()
  report.note(`connections to Redis were killed ${await killed} times`)
  report.promise(
    cluster.exits === 0 && cluster.unhandled.length === 0,
    `no node ends or misses an error: ${cluster.unhandled[0]}`
  )
  await cluster.stop()
  const data = temporary()
  const gateways = [await Gateway.start({ data }), await Gateway.start({ data })]
  await cutStreams(report, gateways.map(({ port }) => port), options, ', two nodes on one folder')
  await Promise.all(gateways.map(async gateway => await gateway.end()))
  return report
})

async function killConnections ({ redis }: Cluster, every: number, signal: AbortSignal): Promise<number> {
  let times = 0
  while (!signal.aborted) {
    await sleep(every * (0.5 + Math.random()), undefined, { signal }).catch(() => {})
    await redis.send('CLIENT KILL TYPE pubsub')
    await redis.send('CLIENT KILL TYPE normal')
    times++
  }
  return times
}
