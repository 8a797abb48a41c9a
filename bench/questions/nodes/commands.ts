import { setTimeout as sleep } from 'node:timers/promises'
import { HttpWire } from '../../load/http-wire.js'
import { LiveSession } from '../../load/live-session.js'
import { echo, INITIALIZE, LEGACY, message, MODERN, progress, type Ask, type Era } from '../../load/messages.js'
import { openSessions } from '../../load/sessions.js'
import { ask, initialize } from '../../load/wire.js'
import type { Finding } from '../../measure/goal.js'
import type { Setting } from '../../measure/rounds.js'
import { spreadOf } from '../../measure/statistics.js'
import { withRedisClient, type Cluster } from '../../servers/nodes.js'
import { answerDelayAt } from './latency.js'

const CALLS = 30
const EVENTS = 10
/**
 * Commands that a node sends without a call: pings, leases, reads of changes; and requests for tokens of rates, which
 * are for many calls.
 */
const BACKGROUND = /^"(?:PING|XREAD|SET" "patchbay:node:|EVAL(?:SHA)?" "[^"]+" "\d+" "patchbay:(?:rate|burst):)/i

/** One counted operation: prepared before, and done `each` times. */
interface Case { what: string, goal?: string, each: number, prepare: () => Promise<() => Promise<unknown>> }

/** How many commands the nodes send to Redis for each of those. A script is one command. */
export async function commandCounts (cluster: Cluster, { say }: Setting): Promise<Finding[]> {
  say('nodes, commands to Redis')
  const findings: Finding[] = []
  for (const { what, goal, each, prepare } of casesOf(cluster)) {
    await (await prepare())()
    const commands = await commandsDuring(cluster, await prepare())
    say(`  ${what}: ${summarize(commands, each)}`)
    findings.push({
      what: `nodes, commands to Redis, ${what}`,
      ...(goal === undefined ? {} : { goal }),
      ours: spreadOf([commands.length / each]),
      limit: '-',
      peers: []
    })
  }
  return findings
}

function casesOf ({ first, second }: Cluster): Case[] {
  return [
    {
      what: 'a 2026-07-28 call',
      goal: '≤ 0 commands',
      each: CALLS,
      prepare: async () => await calls(first.port, MODERN, echo(32))
    },
    {
      what: 'a JSON reply in a known session',
      goal: '≤ 0 commands',
      each: CALLS,
      prepare: async () => await calls(first.port, LEGACY, echo(32))
    },
    {
      what: 'an event of a streamed reply',
      goal: '≤ 1 command',
      each: CALLS * EVENTS,
      prepare: async () => await calls(first.port, LEGACY, progress(EVENTS - 1))
    },
    { what: 'initialize', goal: '≤ 1 command', each: CALLS, prepare: async () => await handshakes(first.port) },
    {
      what: 'the first request at another node',
      each: CALLS,
      prepare: async () => await visits(first.port, second.port)
    },
    { what: 'a call that asks', each: CALLS, prepare: async () => await questions(first.port, first.port) },
    {
      what: 'a call that asks, with its answer at another node',
      each: CALLS,
      prepare: async () => await questions(first.port, second.port)
    }
  ]
}

/** The commands that come while work is done, each as Redis prints it, without those inside of scripts. */
async function commandsDuring ({ redis }: Cluster, work: () => Promise<unknown>): Promise<string[]> {
  return await withRedisClient(redis, async client => {
    const lines: string[] = []
    await client.monitor(line => { lines.push(String(line)) })
    await work()
    // The last ones may come a little later.
    await sleep(300)
    return lines
      .filter(line => !/^\S+ \[\d+ lua\]/.test(line))
      .map(line => line.replace(/^\S+ \[[^\]]*\] /, ''))
      .filter(line => !BACKGROUND.test(line))
  })
}

/** Which commands they are. */
function summarize (commands: string[], each: number): string {
  const names = commands.map(command => command.split(' ')[0]?.replaceAll('"', '').toUpperCase() ?? '')
  return (
    [...new Set(names)].map(name => `${name} ${names.filter(other => other === name).length / each}`).join(', ') ||
    'none'
  )
}

async function calls (port: number, era: Era, { method, params }: Ask): Promise<() => Promise<void>> {
  const wire = await HttpWire.open(port, era)
  await initialize(wire, era)
  return async () => {
    for (let index = 0; index < CALLS; index++) await ask(wire, message(era, 100, method, params))
    wire.close()
  }
}

async function handshakes (port: number): Promise<() => Promise<void>> {
  const wire = await HttpWire.open(port, LEGACY)
  return async () => {
    for (let index = 0; index < CALLS; index++) await ask(wire, INITIALIZE)
    wire.close()
  }
}

async function visits (port: number, otherPort: number): Promise<() => Promise<void>> {
  const sessions = await openSessions(port, CALLS, { confirm: true })
  const wire = await HttpWire.open(otherPort, LEGACY)
  const { method, params } = echo(32)
  return async () => {
    for (const session of sessions) {
      wire.session = session
      await ask(wire, message(LEGACY, 100, method, params))
    }
    wire.close()
  }
}

async function questions (port: number, answerPort: number): Promise<() => Promise<number>> {
  const session = await LiveSession.open(port)
  await answerDelayAt(session, port, answerPort, 1)
  return async () => await answerDelayAt(session, port, answerPort, CALLS)
}
