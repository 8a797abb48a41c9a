import { setTimeout as sleep } from 'node:timers/promises'
import { overHttp } from '../load/transports.js'
import { HttpWire } from '../load/http-wire.js'
import { Load } from '../load/load.js'
import { echo, LEGACY, listTools, message, MODERN, type Ask } from '../load/messages.js'
import { endSessions, openSessions } from '../load/sessions.js'
import { ask } from '../load/wire.js'
import type { Finding, Question } from '../measure/goal.js'
import { rateOf, ratesOf, warmUp, type Runner } from '../measure/race.js'
import type { Setting } from '../measure/rounds.js'
import { median, ratioOf, short } from '../measure/statistics.js'
import { patchbay, sdk2 } from '../servers/catalogue.js'
import { ServerProcess } from '../servers/process.js'

/** The measurement at each size: how a process is brought there, and how it is kept busy. */
interface Growth { sizes: number[], grow: (port: number, size: number) => Promise<void>, open: Runner['open'] }

const TOOLS = [1, 100, 5_000]
const SESSIONS = [1, 1_000, 10_000]
const CONNECTIONS = 32
/** The time after which the work that growing leaves behind, such as writing to the disk, is over. */
const CALM = 1_000
const CALLS: Ask = echo(32)
/** Pages of one size, however many tools there are. */
const PAGES = { PATCHBAY_PAGE_SIZE: '100' }

/** Does a call cost more when there are more tools or sessions, and a page when there are more of them? */
export const growth: Question = async setting => {
  const calls = overHttp(patchbay, { era: MODERN, ask: CALLS })
  const pages = overHttp(patchbay, { era: MODERN, ask: listTools(100) })
  const peers = await growthOfPeers(setting)
  return [
    ...(await compare('a call with N tools', 'tool', { sizes: TOOLS, grow: fill, open: calls.open }, setting)).map(
      (finding, index) => ({ ...finding, peers: peers[index] ?? [] })
    ),
    ...(await compare('a call with N sessions', 'session', manySessions(), setting)),
    ...(await compare('a page of N tools', 'tools', { sizes: [100, 5_000], grow: fill, open: pages.open }, setting))
  ]
}

/**
 * The cost at each size as a multiple of that at the first, all in one process, as two of them differ by more than what
 * is looked for.
 */
async function compare (
  what: string,
  noun: string,
  { sizes, grow, open }: Growth,
  setting: Setting
): Promise<Finding[]> {
  setting.say(what)
  const running = await ServerProcess.listen(patchbay, PAGES)
  const rates = new Map(sizes.map(size => [size, [] as number[]]))
  try {
    await grow(running.port, sizes[0] as number)
    await warmUp(running, open)
    for (let round = 0; round < setting.rounds; round++) {
      setting.say(`  round ${round + 1} of ${setting.rounds}`)
      for (const size of sizes) {
        await grow(running.port, size)
        await sleep(CALM)
        rates.get(size)?.push(await rateOf(running, open))
      }
    }
  } finally {
    await running.stop()
  }
  const [first = 1, ...others] = sizes
  const base = rates.get(first) ?? []
  return others.map(size => ({
    what: what.replace('N', size.toLocaleString('en-US')),
    goal: `≤ 1.05 × that with ${first} ${noun}`,
    ours: ratioOf(base, rates.get(size) ?? []),
    limit: `${short(median(base))}/s with ${first}`,
    peers: []
  }))
}

/** Theirs are processes of their own: what they differ by is large enough. */
async function growthOfPeers (setting: Setting): Promise<Array<Finding['peers']>> {
  if (!setting.peers) return []
  const runners = TOOLS.map(count =>
    overHttp(
      { ...sdk2 },
      { era: MODERN, ask: CALLS, connections: count > 100 ? 4 : CONNECTIONS, env: { BENCH_TOOLS: String(count) } }
    )
  )
  const rates = await ratesOf(runners, { ...setting, rounds: Math.min(3, setting.rounds) })
  const [base = [], ...others] = runners.map(({ server }) => rates.get(server) ?? [])
  return others.map(rate => [{ name: sdk2.name, figure: ratioOf(base, rate) }])
}

async function fill (port: number, tools: number): Promise<void> {
  const wire = await HttpWire.open(port, MODERN)
  await ask(wire, message(MODERN, 1, 'tools/call', { name: 'bench_fill', arguments: { count: tools - 1 } }))
  wire.close()
}

/** One session is busy, the others are there. */
function manySessions (): Growth {
  let busy: string | undefined
  let others: string[] = []
  return {
    sizes: SESSIONS,
    grow: async (port, size) => {
      await endSessions(port, others.splice(size - 1))
      others = [...others, ...await openSessions(port, size - 1 - others.length, { confirm: true })]
    },
    open: async ({ port }) => {
      const wires = await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => await HttpWire.open(port, LEGACY))
      )
      busy ??= (await openSessions(port, 1, { confirm: true }))[0]
      for (const wire of wires) wire.session = busy
      return await Load.begin(wires, LEGACY, CALLS, 1, { shared: true })
    }
  }
}
