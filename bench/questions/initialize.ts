import { setTimeout as sleep } from 'node:timers/promises'
import { endSessions, openSessions } from '../load/sessions.js'
import type { Finding, Question } from '../measure/goal.js'
import { collectable, measureKept } from '../measure/memory.js'
import { cpuTime } from '../measure/process.js'
import { comparisons, inRounds, otherBuilds, present, type Setting } from '../measure/rounds.js'
import { median, ratioOf, short, spreadOf } from '../measure/statistics.js'
import { bareFastify, patchbay, sdk1, sdk2Session } from '../servers/catalogue.js'
import { ServerProcess, type Server } from '../servers/process.js'

const WARM_UP = 3_000
const COUNT = 1_500
const WAVE = 5_000
const WAVES = 3
/** After so many the heap has the size that it keeps. */
const FIRST = 2
const IDLE = 2_000

/** Measures what a new session costs, and what is left of it once it has expired. */
export const initialize: Question = async setting => [...await rate(setting), await expiry(setting)]

async function rate (setting: Setting): Promise<Finding[]> {
  setting.say('initialize')
  const started = new Map<Server, ServerProcess>()
  const peers = [sdk2Session, sdk1]
  const others = otherBuilds(patchbay, setting)
  try {
    for (const { server } of present(
      [bareFastify, patchbay, ...others, ...peers].map(server => ({ server })),
      setting
    )) {
      const running = await ServerProcess.listen(server)
      started.set(server, running)
      await open(running, server.peer === true ? WARM_UP / 2 : WARM_UP)
    }
    const rates = await inRounds(
      [...started].map(([server, running]) => ({ server, sample: async () => await open(running, COUNT) })),
      setting.rounds,
      setting
    )
    const base = rates.get(bareFastify) ?? []
    const against = (server: Server) => ratioOf(rates.get(server) ?? [], base)
    return [{
      what: 'sessions, initialize',
      goal: '≥ 0.75 of bare Fastify',
      ours: against(patchbay),
      limit: `${short(median(base))}/s`,
      peers: peers.filter(server => rates.has(server)).map(server => ({ name: server.name, figure: against(server) }))
    }, ...comparisons('sessions, initialize', rates, patchbay, others, '/s')]
  } finally {
    for (const running of started.values()) await running.stop()
  }
}

/** How many sessions are opened in a second of CPU time. They are ended again, as there may be only so many. */
async function open ({ pid, port }: ServerProcess, count: number): Promise<number> {
  const since = cpuTime(pid)
  const sessions = await openSessions(port, count)
  const time = cpuTime(pid) - since
  await endSessions(port, sessions)
  return count * 1000 / time
}

/** Measures what more sessions leave behind, when as many have come and gone before. */
async function expiry ({ say }: Setting): Promise<Finding> {
  say('sessions that expire')
  const running = await ServerProcess.listen(collectable(patchbay), { PATCHBAY_SESSION_IDLE: String(IDLE) })
  try {
    const after: number[] = []
    for (let wave = 0; wave < FIRST + WAVES; wave++) {
      await openSessions(running.port, WAVE)
      await gone(running.port)
      after.push(await measureKept(running))
    }
    const left = (after.at(-1) as number) - (after[FIRST - 1] as number)
    return {
      what: 'sessions, KiB left of each that expired',
      goal: '≤ 0.5 KiB',
      ours: spreadOf([Math.max(0, left) / (WAVE * WAVES)]),
      limit: '-',
      peers: []
    }
  } finally {
    await running.stop()
  }
}

/** Waits until the gateway knows of no session any more. */
async function gone (port: number): Promise<void> {
  const until = Date.now() + 30_000
  for (;;) {
    const { sessions } = await (await fetch(`http://127.0.0.1:${port}/health`)).json() as { sessions: number }
    if (sessions === 0) return
    if (Date.now() > until) throw new Error(`${sessions} sessions do not expire`)
    await sleep(200)
  }
}
