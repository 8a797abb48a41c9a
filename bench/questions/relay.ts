import { overHttp, overStdio } from '../load/transports.js'
import { echo, LEGACY, MODERN, type Era } from '../load/messages.js'
import type { Finding, Question } from '../measure/goal.js'
import { collectable, collectGarbage, withFixedYoungGeneration } from '../measure/memory.js'
import { ownMemory } from '../measure/process.js'
import { race, ratesOf, whenServed, type Runner } from '../measure/race.js'
import type { Setting } from '../measure/rounds.js'
import { median, ratioOf, short, spreadOf } from '../measure/statistics.js'
import { bareFastify, patchbayStdio } from '../servers/catalogue.js'
import { ServerProcess, type Server } from '../servers/process.js'
import {
  bareHttpRelay,
  bareProxy,
  bareRelay,
  mcpProxy,
  relayOver,
  splitter,
  supergatewayHttp
} from '../servers/relays.js'

const LOCAL = echo(32)
const RELAYED = echo(32, 'up__echo')
const CROWD = 50

/** Measures what a call costs that a server behind Patchbay answers. Counted is what the relay itself uses. */
export const relay: Question = async setting => [
  ...await overPipes(MODERN, setting),
  ...await overPipes(LEGACY, setting),
  ...await fromHttpToPipes(MODERN, setting),
  ...await fromHttpToPipes(LEGACY, setting),
  ...await fromHttpToHttp(setting),
  ...await growth(setting),
  ...await idle(setting)
]

async function overPipes (era: Era, setting: Setting): Promise<Finding[]> {
  const ours = relayOver('stdio', { up: splitter(era) })
  const bare = bareRelay(era)
  const over = (server: Server): Runner =>
    whenServed(overStdio(server, { era, inFlight: 64, ask: isOurs(server, ours) ? RELAYED : LOCAL }))
  const name = era === MODERN ? '2026-07-28' : 'legacy'
  return [
    ...(await race(
      {
        what: `relay, stdio to stdio, 64 in flight, ${name}`,
        goal: '≥ 0.40 of a local tool',
        limit: patchbayStdio,
        ours,
        over
      },
      setting
    )),
    ...(await race({ what: `relay, stdio to stdio, 64 in flight, ${name}, bare`, limit: bare, ours, over }, setting))
  ]
}

async function fromHttpToPipes (era: Era, setting: Setting): Promise<Finding[]> {
  const ours = relayOver('http', { up: splitter(era) })
  return await race({
    what: `relay, HTTP to stdio, ${era === MODERN ? '2026-07-28' : 'legacy session'}`,
    goal: '≥ 0.60 of a bare relay',
    limit: bareHttpRelay(era),
    ours,
    peers: era === MODERN ? [] : [supergatewayHttp, mcpProxy],
    over: server => whenServed(overHttp(server, { era, ask: isOurs(server, ours) ? RELAYED : LOCAL }))
  }, setting)
}

async function fromHttpToHttp (setting: Setting): Promise<Finding[]> {
  const upstream = await ServerProcess.listen(bareFastify)
  try {
    const ours = relayOver('http', { up: { url: `http://127.0.0.1:${upstream.port}/mcp` } })
    return await race({
      what: 'relay, HTTP to HTTP, 2026-07-28',
      goal: '≥ 0.60 of a bare proxy',
      limit: bareProxy(upstream.port),
      ours,
      over: server => whenServed(overHttp(server, { era: MODERN, ask: isOurs(server, ours) ? RELAYED : LOCAL }))
    }, setting)
  } finally {
    await upstream.stop()
  }
}

/** Does a call cost more when more servers, or more tools, are behind the gateway? */
async function growth (setting: Setting): Promise<Finding[]> {
  setting.say('relay, a call with N upstreams')
  const shapes = [
    { what: 'one upstream', upstreams: 1, tools: 1 },
    { what: `${CROWD} upstreams`, upstreams: CROWD, tools: 1 },
    { what: '5,000 tools of an upstream', upstreams: 1, tools: 5_000 }
  ]
  const runners = shapes.map(({ upstreams, tools }) => {
    const runner = whenServed(overHttp(relayOver('http', many(upstreams, tools)), { era: MODERN, ask: RELAYED }))
    return {
      ...runner,
      open: async (running: ServerProcess) => {
        await callEach(running, upstreams)
        return await runner.open(running)
      }
    }
  })
  const rates = await ratesOf(runners, setting)
  const [base = [], ...others] = runners.map(({ server }) => rates.get(server) ?? [])
  return others.map((rate, index) => ({
    what: `relay, a call with ${shapes[index + 1]?.what}`,
    goal: '≤ 1.10 × that with one',
    ours: ratioOf(base, rate),
    limit: `${short(median(base))}/s with one`,
    peers: []
  }))
}

/** How much memory of the gateway does a server take that is running and not used? */
async function idle (setting: Setting): Promise<Finding[]> {
  const what = 'relay, idle upstream, KiB'
  setting.say(what)
  const weights: number[] = []
  for (let round = 0; round < Math.min(3, setting.rounds); round++) {
    const [few, lots] = [await weightOf(CROWD), await weightOf(2 * CROWD)]
    weights.push((lots - few) / CROWD)
  }
  return [{ what, goal: '≤ 100 KiB', ours: spreadOf(weights), limit: '-', peers: [] }]
}

async function weightOf (upstreams: number): Promise<number> {
  const running = await ServerProcess.listen(
    withFixedYoungGeneration(collectable(relayOver('http', many(upstreams, 1))))
  )
  try {
    await callEach(running, upstreams)
    await collectGarbage(running)
    return ownMemory(running.pid)
  } finally {
    await running.stop()
  }
}

/** Waits until all servers behind a relay have started. */
async function callEach (running: ServerProcess, upstreams: number): Promise<void> {
  for (let index = 0; index < upstreams; index++) {
    const { open } = whenServed(
      overHttp(bareFastify, { era: MODERN, ask: echo(32, `${nameOf(index)}__echo`), connections: 1 })
    )
    await (await open(running)).end()
  }
}

const nameOf = (index: number): string => index === 0 ? 'up' : `up${index}`

const many = (count: number, tools: number): Parameters<typeof relayOver>[1] =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [nameOf(index), splitter(MODERN, index === 0 ? tools : 1)])
  )

const isOurs = (server: Server, ours: Server): boolean => server === ours || server.build !== undefined
