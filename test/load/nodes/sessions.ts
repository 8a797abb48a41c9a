import { setTimeout as sleep } from 'node:timers/promises'
import { Report, type Scenario } from '../../support/report.js'
import { HttpConnection } from '../../support/http-connection.js'
import { inBatches } from '../batches.js'
import type { Gateway } from '../gateway.js'
import { atRest, settled, withTolerance } from '../settling.js'
import { openSession } from '../transports/post.js'
import { encode } from '../transports/transport.js'
import { MIB } from '../vitals.js'
import { Cluster } from './cluster.js'

/** Sessions that are opened before anything is measured. */
const WARM_UP = 300
/** In milliseconds: a session that is not ended by its client is ended after this. */
const IDLE = 3_000
const PATIENCE = 60_000

/**
 * Sessions that come and go at three nodes, half of them without a goodbye: nothing of them is left, at the nodes or in
 * Redis.
 */
export const nodeSessions: Scenario<{ sessions: number }> = {
  defaults: { sessions: 10_000 },
  run: async ({ sessions }, { plugins = [], env = {}, say } = {}) => {
    const report = new Report(`node-sessions: ${sessions} sessions come and go at three nodes`, say)
    const cluster = await Cluster.start({ PATCHBAY_SESSION_IDLE: String(IDLE), ...env }, plugins)
    const { nodes, redis } = cluster
    const wrong: string[] = []
    const visits = async (count: number): Promise<void> =>
      await inBatches(
        count,
        async index =>
          await visit(nodes, index).catch((error: Error) => {
            wrong.push(error.message)
          })
      )
    await visits(WARM_UP)
    await waitUntilEmpty(cluster)
    const base = await Promise.all(nodes.map(atRest))
    const before = await stored(cluster)
    await visits(sessions)
    await waitUntilEmpty(cluster)
    const now = await Promise.all(
      nodes.map(async (node, index) => await settled(node, withTolerance(base[index] ?? (await node.vitals()))))
    )
    const after = await stored(cluster)
    for (const [index, { vitals }] of now.entries()) {
      report.row({
        node: index + 1,
        sessions: vitals.sessions,
        peers: vitals.peers,
        alive: vitals.alive,
        files: vitals.files,
        'RSS MiB before': (base[index]?.rss ?? 0) / MIB,
        after: vitals.rss / MIB,
        'heap MiB before': (base[index]?.heap ?? 0) / MIB,
        'heap after': vitals.heap / MIB
      })
    }
    report.note(
      `Redis: ${before.keys} keys before, ${after.keys} after; ${before.channels} channels before, ${after.channels} after; ${await redis.send('PUBSUB NUMPAT')} patterns`
    )
    report.promise(wrong.length === 0, `every session is served, but ${wrong.length}: ${wrong[0]}`)
    report.promise(after.keys <= before.keys, `no key is left: ${after.keys} instead of ${before.keys}`)
    report.promise(
      after.channels === nodes.length + 1,
      `there is a channel for each node and one for all: ${after.channels}`
    )
    for (const { left } of now) {
      report.promise(left.length === 0, `a node holds what it held before: ${left.join(', ')}`)
    }
    const ends = await cluster.stop()
    report.promise(ends.every(end => end === 0), `the gateways end with 0, not ${ends.join(', ')}`)
    return report
  }
}

/**
 * A session that is opened at one node and called at another, whose stream is read at the third; every second one is
 * ended.
 */
async function visit (nodes: Gateway[], index: number): Promise<void> {
  const [one, two, three] = [0, 1, 2].map(
    step => new HttpConnection(nodes[(index + step) % nodes.length]?.port ?? 0)
  ) as [HttpConnection, HttpConnection, HttpConnection]
  try {
    const headers = await openSession(one)
    const opened = new Promise<void>((resolve, reject) =>
      three.request(
        { method: 'GET', path: '/mcp', headers },
        {
          head: status => (status === 200 ? resolve() : reject(new Error(`GET: ${status}`))),
          message: () => {},
          end: () => {},
          cut: resolve
        }
      )
    )
    await opened
    const steps = encode(index, 'tools/call', {
      name: 'load_steps',
      arguments: { text: 'steps' },
      _meta: { progressToken: 'steps' }
    })
    const { status, body } = await two.exchange({ method: 'POST', path: '/mcp', headers, body: steps })
    if (status !== 200 || !body.includes('"result"')) throw new Error(`${status} ${body}`)
    if (index % 2 === 0) await one.exchange({ method: 'DELETE', path: '/mcp', headers })
  } finally {
    for (const { socket } of [one, two, three]) socket.destroy()
  }
}

/** What Redis holds: keys, and channels that are subscribed to. */
async function stored ({ redis }: Cluster): Promise<{ keys: number, channels: number }> {
  const number = async (command: string): Promise<number> => Number((await redis.send(command)).slice(1))
  return { keys: await number('DBSIZE'), channels: await number('PUBSUB CHANNELS') }
}

async function waitUntilEmpty ({ nodes }: Cluster): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(250)) {
    const vitals = await Promise.all(nodes.map(async node => await node.vitals()))
    if (vitals.every(({ sessions }) => sessions === 0)) return
  }
}
