import { HttpWire } from '../load/http-wire.js'
import { LEGACY } from '../load/messages.js'
import { eachOf, openSessions } from '../load/sessions.js'
import { WebSocketWire } from '../load/websocket-wire.js'
import { initialize, type Wire } from '../load/wire.js'
import type { Finding, Question } from '../measure/goal.js'
import { collectable, measureKept } from '../measure/memory.js'
import { comparisons, inRounds, otherBuilds, present, type Setting } from '../measure/rounds.js'
import { median, short, spreadOf } from '../measure/statistics.js'
import { bareFastify, bareWebSocket, patchbay, sdk1, sdk2Session } from '../servers/catalogue.js'
import { ServerProcess, type Server } from '../servers/process.js'

const WARM_UP = 500
const COUNT = 5_000
const SAMPLES = 3

/** Idle clients. */
interface Crowd { add: (count: number) => Promise<void>, leave?: () => void }

interface Shape { what: string, goal: string, limit: Server, peers: Server[], gather: (port: number) => Promise<Crowd> }

/** How much memory do clients take that do nothing, averaged over 5,000? */
export const idle: Question = async setting => [
  ...(await weigh(
    { what: 'idle session, KiB', goal: '≤ 6 KiB', limit: bareFastify, peers: [sdk2Session, sdk1], gather: sessions },
    setting
  )),
  ...(await weigh(
    { what: 'idle WebSocket, KiB', goal: '≤ 16 KiB', limit: bareWebSocket, peers: [], gather: webSockets },
    setting
  )),
  ...(await weigh(
    { what: 'idle SSE stream, KiB', goal: '≤ 16 KiB', limit: bareFastify, peers: [sdk2Session], gather: streams },
    setting
  ))
]

async function weigh ({ what, goal, limit, peers, gather }: Shape, setting: Setting): Promise<Finding[]> {
  setting.say(what)
  const others = otherBuilds(patchbay, setting)
  const contestants = [limit, patchbay, ...others, ...peers].map(server => ({
    server,
    sample: async () => await weightOf(server, gather)
  }))
  const weights = await inRounds(present(contestants, setting), Math.min(SAMPLES, setting.rounds), setting)
  return [
    {
      what,
      goal,
      ours: spreadOf(weights.get(patchbay) ?? []),
      limit: `${short(median(weights.get(limit) ?? []))} KiB`,
      peers: peers
        .filter(server => weights.has(server))
        .map(server => ({ name: server.name, figure: spreadOf(weights.get(server) ?? []) }))
    },
    ...comparisons(what, weights, patchbay, others, ' KiB')
  ]
}

/** Measures how much of a server's memory each idle client takes, in KiB. */
export async function weightOf (server: Server, gather: Shape['gather']): Promise<number> {
  const running = await ServerProcess.listen(collectable(server))
  let crowd: Crowd | undefined
  try {
    crowd = await gather(running.port)
    await crowd.add(WARM_UP)
    const before = await measureKept(running)
    await crowd.add(COUNT)
    return (await measureKept(running) - before) / COUNT
  } finally {
    crowd?.leave?.()
    await running.stop()
  }
}

export const sessions: Shape['gather'] = async port => ({
  add: async count => {
    await openSessions(port, count, { confirm: true })
  }
})

const webSockets: Shape['gather'] = async port => await connectIdle(async () => {
  const wire = await WebSocketWire.open(port)
  await initialize(wire, LEGACY)
  return wire
})

/** The sessions are there before: only the streams are weighed. */
const streams: Shape['gather'] = async port => {
  const ids = await openSessions(port, WARM_UP + COUNT, { confirm: true })
  return await connectIdle(async () => {
    const wire = await HttpWire.open(port, LEGACY)
    await wire.listen(ids.pop() as string)
    return wire
  })
}

async function connectIdle (open: () => Promise<Wire>): Promise<Crowd> {
  const wires: Wire[] = []
  return {
    add: async count => await eachOf(count, async () => ({ work: async () => { wires.push(await open()) } })),
    leave: () => { for (const wire of wires) wire.close() }
  }
}
