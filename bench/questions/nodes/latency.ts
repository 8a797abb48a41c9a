import { LiveSession, type EventListener } from '../../load/live-session.js'
import { LEGACY, message } from '../../load/messages.js'
import type { Finding } from '../../measure/goal.js'
import type { Setting } from '../../measure/rounds.js'
import { median, short, spreadOf } from '../../measure/statistics.js'
import type { Cluster } from '../../servers/nodes.js'

const TICKS = { events: 300, every: 3 }
/** In all rounds together. */
const ANSWERS = 1_000
let lastId = 100

/** How much later events and answers arrive, in milliseconds: medians, and what they differ by in each round. */
export async function delays (cluster: Cluster, setting: Setting): Promise<Finding[]> {
  return [...await eventDelays(cluster, setting), await answerDelay(cluster, setting)]
}

async function eventDelays ({ first, second, alone }: Cluster, { rounds, say }: Setting): Promise<Finding[]> {
  say('nodes, delay of events')
  const [local, shared] = [await LiveSession.open(alone.port), await LiveSession.open(first.port)]
  const all: Array<{ memory: number, same: number, other: number }> = []
  for (let round = -1; round < rounds; round++) {
    const delay = {
      memory: await eventDelay(local, alone.port),
      same: await eventDelay(shared, first.port),
      other: await eventDelay(shared, first.port, second.port)
    }
    // The first round warms up.
    if (round >= 0) all.push(delay)
  }
  await local.end(alone.port)
  await shared.end(first.port)
  const added = (which: 'same' | 'other') => spreadOf(all.map(delay => delay[which] - delay.memory))
  const limit = `${short(median(all.map(({ memory }) => memory)))} ms in memory`
  return [
    { what: 'nodes, delay of an event, added p50, ms', goal: '≤ 1 ms', ours: added('same'), limit, peers: [] },
    {
      what: 'nodes, delay of an event, read at another node, added p50, ms',
      goal: '≤ 1 ms',
      ours: added('other'),
      limit,
      peers: []
    }
  ]
}

/**
 * The median time from a report of progress to its arrival, in milliseconds. The client may read at another node than
 * the call runs.
 */
export async function eventDelay (
  session: LiveSession,
  port: number,
  readerPort = port,
  { events, every } = TICKS
): Promise<number> {
  const delays: number[] = []
  const id = ++lastId
  let since = 0n
  let lastEventId = ''
  const take: EventListener = ({ data, at }) => {
    if (since === 0n) since = at
    const { params } = JSON.parse(data || '{}') as { params?: { message: string } }
    // A message that was sent before the client was connected had to wait for it.
    if (params !== undefined && BigInt(params.message) > since) delays.push(Number(at - BigInt(params.message)) / 1e6)
    return delays.length < events
  }
  await session.call(
    port,
    message(LEGACY, id, 'tools/call', { name: 'bench_ticks', arguments: { every }, _meta: { progressToken: 'bench' } }),
    event => {
      if (readerPort === port) return take(event)
      lastEventId = event.id ?? ''
      return lastEventId === ''
    }
  )
  if (readerPort !== port) await session.resume(readerPort, lastEventId, take)
  await session.post(port, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  if (delays.length < events) throw new Error(`only ${delays.length} of ${events} events arrived`)
  return median(delays)
}

async function answerDelay ({ first, second }: Cluster, { rounds, say }: Setting): Promise<Finding> {
  say('nodes, delay of answers')
  const session = await LiveSession.open(first.port)
  const count = Math.ceil(ANSWERS / rounds)
  const all: Array<{ same: number, other: number }> = []
  for (let round = -1; round < rounds; round++) {
    const delay = {
      same: await answerDelayAt(session, first.port, first.port, count),
      other: await answerDelayAt(session, first.port, second.port, count)
    }
    if (round >= 0) all.push(delay)
  }
  await session.end(first.port)
  return {
    what: 'nodes, delay of an answer given at another node, added median, ms',
    goal: '≤ 5 ms',
    ours: spreadOf(all.map(({ same, other }) => other - same)),
    limit: `${short(median(all.map(({ same }) => same)))} ms at the same node`,
    peers: []
  }
}

/** The median time from the answer of a client to the result of the call that asked, in milliseconds. */
export async function answerDelayAt (
  session: LiveSession,
  port: number,
  answerPort: number,
  count: number
): Promise<number> {
  const delays: number[] = []
  for (let index = 0; index < count; index++) {
    let since = 0n
    let posted: Promise<unknown> | undefined
    await session.call(port, message(LEGACY, 8, 'tools/call', { name: 'bench_ask', arguments: {} }), ({ data, at }) => {
      const { id, method, result } = JSON.parse(data || '{}') as { id?: unknown, method?: string, result?: unknown }
      if (result !== undefined) delays.push(Number(at - since) / 1e6)
      if (method !== 'elicitation/create') return true
      since = process.hrtime.bigint()
      posted = session.post(answerPort, { jsonrpc: '2.0', id, result: { action: 'accept', content: { word: 'yes' } } })
      return true
    })
    await posted
  }
  if (delays.length < count) throw new Error(`${count - delays.length} of ${count} answers did not arrive`)
  return median(delays)
}
