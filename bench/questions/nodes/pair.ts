import { setTimeout as sleep } from 'node:timers/promises'
import { HttpWire } from '../../load/http-wire.js'
import { Load } from '../../load/load.js'
import { echo, LEGACY, MODERN, progress, type Ask, type Era } from '../../load/messages.js'
import { openSessions } from '../../load/sessions.js'
import { moveToOtherCore } from '../../measure/cores.js'
import type { Finding } from '../../measure/goal.js'
import { cpuTime } from '../../measure/process.js'
import { warmUp } from '../../measure/race.js'
import type { Setting } from '../../measure/rounds.js'
import { median, ratioOf, short, spreadOf } from '../../measure/statistics.js'
import type { Cluster } from '../../servers/nodes.js'
import type { ServerProcess } from '../../servers/process.js'

const CONNECTIONS = 32
const EVENTS = 10
/** In milliseconds: by the clock, and the least CPU time of the nodes. */
const SETTLE = 500
const WINDOW = 1_500
const LEAST_USED = 300

/** Calls in a second by the clock, and CPU time in milliseconds for each: of the nodes, and of Redis. */
interface Sample { rate: number, used: number, redis: number }

/**
 * Compares the calls of two nodes with those of one alone. Each has a core, which it shares with the client or with
 * Redis.
 */
export async function pairOfNodes (cluster: Cluster, setting: Setting): Promise<Finding[]> {
  const { first, second, redis } = cluster
  moveToOtherCore(second.pid)
  const shapes = [
    { what: '2026-07-28 calls', era: MODERN, asked: echo(32), goal: '≤ 1.05 × that at one' },
    { what: 'calls in sessions that both know', era: LEGACY, asked: echo(32), goal: '≤ 1.05 × that at one' },
    { what: `streamed replies, ${EVENTS} events`, era: LEGACY, asked: progress(EVENTS - 1) }
  ] as const
  const findings: Finding[] = []
  for (const { what, era, asked, ...rest } of shapes) {
    setting.say(`nodes, two against one, ${what}`)
    for (const node of [first, second]) await warmUp(node, async () => await open([node], era, asked))
    const [one, two]: [Sample[], Sample[]] = [[], []]
    for (let round = 0; round < setting.rounds; round++) {
      one.push(await sample([first], redis, era, asked))
      two.push(await sample([first, second], redis, era, asked))
    }
    findings.push(...compareSamples(what, one, two, rest))
    if (what.startsWith('streamed')) findings.push(ofRedis([...one, ...two]))
  }
  return findings
}

function compareSamples (what: string, one: Sample[], two: Sample[], goal: { goal?: string }): Finding[] {
  const of = (samples: Sample[], which: keyof Sample): number[] => samples.map(sample => sample[which])
  return [
    {
      what: `nodes, two, CPU, ${what}`,
      ...goal,
      ours: ratioOf(of(two, 'used'), of(one, 'used')),
      limit: `${short(median(of(one, 'used')))} ms at one`,
      peers: []
    },
    {
      what: `nodes, two, calls in a second, ${what}`,
      ours: ratioOf(of(two, 'rate'), of(one, 'rate')),
      limit: `${short(median(of(one, 'rate')))}/s at one`,
      peers: []
    }
  ]
}

function ofRedis (samples: Sample[]): Finding {
  return {
    what: 'nodes, CPU of Redis for an event, µs',
    ours: spreadOf(samples.map(({ redis }) => (redis * 1000) / EVENTS)),
    limit: '-',
    peers: []
  }
}

async function sample (nodes: ServerProcess[], redis: ServerProcess, era: Era, asked: Ask): Promise<Sample> {
  const load = await open(nodes, era, asked)
  await sleep(SETTLE)
  const used = (): number => nodes.reduce((sum, { pid }) => sum + cpuTime(pid), 0)
  const [since, answered, before, ofRedis] = [performance.now(), load.answered, used(), cpuTime(redis.pid)]
  while (performance.now() - since < WINDOW || (used() - before < LEAST_USED && load.fault === undefined)) {
    await sleep(10)
  }
  const calls = load.answered - answered
  const found = {
    rate: (calls * 1000) / (performance.now() - since),
    used: (used() - before) / calls,
    redis: (cpuTime(redis.pid) - ofRedis) / calls
  }
  await load.end()
  return found
}

/** The connections are spread over the nodes; every session is opened at the first. */
async function open (nodes: ServerProcess[], era: Era, asked: Ask): Promise<Load> {
  const [{ port }] = nodes as [ServerProcess]
  const sessions = era === LEGACY ? await openSessions(port, CONNECTIONS, { confirm: true }) : []
  const wires = await Promise.all(Array.from({ length: CONNECTIONS }, async (_, index) => {
    const wire = await HttpWire.open(nodes[index % nodes.length]?.port ?? port, era)
    wire.session = sessions[index]
    return wire
  }))
  return await Load.begin(wires, era, asked, 1)
}
