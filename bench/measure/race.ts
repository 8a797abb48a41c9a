import { setTimeout as sleep } from 'node:timers/promises'
import type { Load } from '../load/load.js'
import type { Server, ServerProcess } from '../servers/process.js'
import type { Finding } from './goal.js'
import { cpuTime, ownCpuTime } from './process.js'
import { comparisons, inRounds, otherBuilds, present, type Setting } from './rounds.js'
import { median, ratioOf, short } from './statistics.js'

/** CPU time of the server in milliseconds, so that everybody gets the same, however busy the machine is. */
const WARM_UP = 4_000
const WARM_CALLS = 12_000
/** Compiled code of those who had to wait for their turn may have been dropped meanwhile. */
const SETTLE = 250
const WINDOW = 500
/** Servers behind a relay start while it serves already. */
const START = 60_000
/** Fewer say little. */
const LEAST = 10
/** A server that needs this many times its CPU time by the clock does not work. */
const MAX_CLOCK_FACTOR = 20

/** One who takes part: how it is started, and how it is kept busy. */
export interface Runner {
  server: Server
  start: () => Promise<ServerProcess>
  open: (running: ServerProcess) => Promise<Load>
  /** Leaves out what its children use: a relay is not measured by the servers behind it. */
  withoutChildren?: true
}

export interface Race {
  what: string
  goal?: string
  limit: Server
  ours: Server
  peers?: Server[]
  over: (server: Server) => Runner
}

/** How many calls a server answers in a second of its CPU time, as ratios to the limit. */
export async function race ({ what, goal, limit, ours, peers = [], over }: Race, setting: Setting): Promise<Finding[]> {
  setting.say(what)
  const others = otherBuilds(ours, setting)
  const rates = await ratesOf([limit, ours, ...others, ...peers].map(over), setting)
  const base = rates.get(limit) ?? []
  return [
    {
      what,
      ...(goal === undefined ? {} : { goal }),
      ours: ratioOf(rates.get(ours) ?? [], base),
      limit: `${short(median(base))}/s`,
      peers: peers.flatMap(server =>
        rates.has(server) ? [{ name: server.name, figure: ratioOf(rates.get(server) ?? [], base) }] : []
      )
    },
    ...comparisons(what, rates, ours, others, '/s')
  ]
}

/** Calls per second of CPU time, round by round. */
export async function ratesOf (runners: Runner[], setting: Setting): Promise<Map<Server, number[]>> {
  const started = new Map<Runner, ServerProcess>()
  try {
    // A server that waits after its warm-up cools down, and peers warm up longest: the servers that matter most warm up
    // last.
    for (const runner of present(runners, setting).reverse()) await prepare(runner, started, setting)
    const contestants = [...started]
      .reverse()
      .map(([{ server, open, withoutChildren }, running]) => ({
        server,
        sample: async () => await rateOf(running, open, withoutChildren)
      }))
    return await inRounds(contestants, setting.rounds, setting)
  } finally {
    for (const running of started.values()) await running.stop()
  }
}

/** The rate of a server that has warmed up. A shorter window is for one server that is asked in different ways. */
export async function rateOf (
  running: ServerProcess,
  open: Runner['open'],
  withoutChildren?: true,
  { settle = SETTLE, window = WINDOW } = {}
): Promise<number> {
  const load = await open(running)
  const used = withoutChildren === true ? ownCpuTime : cpuTime
  try {
    await spend(running, load, settle, { used })
    return await spend(running, load, window, { used, atLeast: LEAST })
  } finally {
    await load.end()
  }
}

/** Compilers take thousands of calls to settle. */
export async function warmUp (running: ServerProcess, open: Runner['open'], withoutChildren?: true): Promise<void> {
  const load = await open(running)
  await spend(running, load, WARM_UP, { atMost: WARM_CALLS, used: withoutChildren === true ? ownCpuTime : cpuTime })
  await load.end()
}

async function prepare (
  runner: Runner,
  started: Map<Runner, ServerProcess>,
  { say, complain }: Setting
): Promise<void> {
  const { server } = runner
  try {
    const running = await runner.start()
    started.set(runner, running)
    await warmUp(running, runner.open, runner.withoutChildren)
    say(`  ${server.name} is warm`)
  } catch (error) {
    if (server.peer !== true) throw new Error(`${server.name}: ${(error as Error).message}`, { cause: error })
    complain(`${server.name} failed: ${(error as Error).message}`)
    await started.get(runner)?.stop()
    started.delete(runner)
  }
}

/** Lets a server use that much CPU time, or answer so many calls, and says how many it answered in a second of it. */
async function spend (
  { pid }: ServerProcess,
  load: Load,
  ms: number,
  { atMost = Infinity, atLeast = 0, used = cpuTime }
): Promise<number> {
  const [since, answered, until] = [used(pid), load.answered, Date.now() + ms * MAX_CLOCK_FACTOR + 30_000]
  const isOver = (): boolean => {
    const calls = load.answered - answered
    return load.fault !== undefined || calls >= atMost || (calls >= atLeast && used(pid) - since >= ms)
  }
  while (!isOver()) {
    if (Date.now() > until) throw new Error(`it did not use ${ms} ms of CPU time in ${MAX_CLOCK_FACTOR} times as long`)
    await sleep(10)
  }
  return ((load.answered - answered) * 1000) / (used(pid) - since)
}

/** Runs it once the server behind it can be called, and counts the relay alone. */
export function whenServed (runner: Runner): Runner {
  return {
    ...runner,
    withoutChildren: true,
    open: async running => {
      for (const until = Date.now() + START; ;) {
        try {
          return await runner.open(running)
        } catch (error) {
          if (Date.now() > until) throw error
          await sleep(50)
        }
      }
    }
  }
}
