import { HttpWire } from '../../load/http-wire.js'
import { echo, LEGACY, MODERN, progress, type Ask, type Era } from '../../load/messages.js'
import { endSessions, openSessions } from '../../load/sessions.js'
import { overHttp } from '../../load/transports.js'
import { message } from '../../load/messages.js'
import { ask } from '../../load/wire.js'
import type { Finding } from '../../measure/goal.js'
import { cpuTime } from '../../measure/process.js'
import { ratesOf } from '../../measure/race.js'
import { inRounds, type Setting } from '../../measure/rounds.js'
import { median, ratioOf, short, spreadOf } from '../../measure/statistics.js'
import { inMemory, onRedis, withRedis, type Cluster } from '../../servers/nodes.js'
import type { ServerProcess } from '../../servers/process.js'

const EVENTS = 10
const SESSIONS = 1_000
const WARM_UP = 2_000

/** Measures what calls cost a node, in CPU time, as multiples of what they cost without other nodes. */
export async function callCosts (setting: Setting): Promise<Finding[]> {
  return [
    ...await compare('nodes, CPU of a 2026-07-28 call', MODERN, echo(32), setting, '≤ 1.05 × that in memory'),
    ...await compare('nodes, CPU of a JSON reply in a session', LEGACY, echo(32), setting, '≤ 1.05 × that in memory'),
    ...await compare(`nodes, CPU of a streamed reply, ${EVENTS} events`, LEGACY, progress(EVENTS - 1), setting)
  ]
}

async function compare (what: string, era: Era, asked: Ask, setting: Setting, goal?: string): Promise<Finding[]> {
  setting.say(what)
  return await withRedis(async ({ port }) => {
    const node = onRedis(port)
    const rates = await ratesOf([inMemory, node].map(server => overHttp(server, { era, ask: asked })), setting)
    const base = rates.get(inMemory) ?? []
    return [
      {
        what,
        ...(goal === undefined ? {} : { goal }),
        ours: ratioOf(base, rates.get(node) ?? []),
        limit: `${short(median(base))}/s`,
        peers: []
      }
    ]
  })
}

/**
 * Measures what sessions cost: to open and end one, and its first request at a node that does not know it, as a
 * multiple of its next.
 */
export async function sessionCosts ({ first, second, alone }: Cluster, setting: Setting): Promise<Finding[]> {
  setting.say('nodes, sessions')
  for (const running of [first, alone]) await openAndEnd(running, WARM_UP)
  for (let time = 0; time < 2; time++) await visit(first, second)
  const times: Array<{ unknown: number, known: number }> = []
  const contestants = [first, alone].map(running => ({
    server: running === alone ? inMemory : onRedis(0),
    sample: async () => await openAndEnd(running, SESSIONS)
  }))
  const [node = [], memory = []] = [...(await inRounds(contestants, setting.rounds, setting)).values()]
  for (let round = 0; round < setting.rounds; round++) times.push(await visit(first, second))
  return [
    {
      what: 'nodes, CPU of initialize and DELETE',
      ours: ratioOf(node, memory),
      limit: `${short(median(memory))} ms`,
      peers: []
    },
    {
      what: 'nodes, CPU of the first request at another node',
      ours: spreadOf(times.map(({ unknown, known }) => unknown / known)),
      limit: `${short(median(times.map(({ known }) => known)))} ms for the next`,
      peers: []
    }
  ]
}

/** CPU time for each session, in milliseconds. */
async function openAndEnd ({ pid, port }: ServerProcess, count: number): Promise<number> {
  const since = cpuTime(pid)
  await endSessions(port, await openSessions(port, count, { confirm: true }))
  return (cpuTime(pid) - since) / count
}

async function visit (first: ServerProcess, second: ServerProcess): Promise<{ unknown: number, known: number }> {
  const sessions = await openSessions(first.port, SESSIONS, { confirm: true })
  const unknown = await askInEach(second, sessions)
  const known = await askInEach(second, sessions)
  await endSessions(second.port, sessions)
  return { unknown, known }
}

async function askInEach ({ pid, port }: ServerProcess, sessions: string[]): Promise<number> {
  const wire = await HttpWire.open(port, LEGACY)
  const { method, params } = echo(32)
  const since = cpuTime(pid)
  for (const session of sessions) {
    wire.session = session
    await ask(wire, message(LEGACY, 100, method, params))
  }
  const used = cpuTime(pid) - since
  wire.close()
  return used / sessions.length
}
