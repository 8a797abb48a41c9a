import { setTimeout as sleep } from 'node:timers/promises'
import { inBatches } from './batches.js'
import { Client } from './client.js'
import { Gateway } from './gateway.js'
import { echo } from './questions.js'
import { Report, type Scenario } from '../support/report.js'
import { dribble, openReader, readerKinds } from './slow-clients.js'
import { MIB, openFiles, rssOf } from './vitals.js'

const CALLERS = 10
/** Between two calls of a caller. */
const PAUSE = 10
const MESSAGE = 64 * 1024
/** The time by which every client that does not read, or does not finish its request, must be cut. */
const DEADLINE = 90_000
/** Connections of the clients that cause the notifications. */
const OWN = 1
const MAX_GROWTH = 200 * MIB
/** Below this, the clock of a busy machine measures nothing. */
const NOISE = 20

interface Phase { times: number[], peak: number, left: number, ms: number }

/**
 * Clients that do not read while much is sent, and clients that never finish their request: they are cut, and the
 * others do not notice.
 */
export const slowReaders: Scenario<{
  readers: number
  requests: number
  rounds: number
  base: number
  beat: number
  deadline: number
  factor: number
}> = {
  defaults: { readers: 100, requests: 500, rounds: 2, base: 5_000, beat: 100, deadline: 10_000, factor: 2 },
  run: async (
    { readers, requests, rounds, base: quietly, beat, deadline, factor },
    { plugins = [], env = {}, say } = {}
  ) => {
    const report = new Report(
      `slow-readers: ${readers} WebSockets and ${readers} event streams that do not read, ${requests} unfinished requests, ${rounds} rounds`,
      say
    )
    const gateway = await Gateway.start({
      plugins,
      env: { ...env, PATCHBAY_LIMITS: `writeDeadline=${deadline},headersTimeout=${deadline}` }
    })
    const callers = await Promise.all(
      Array.from(
        { length: CALLERS },
        async (_, index) =>
          await Client.open(gateway, index % 2 === 0 ? 'POST /message' : 'POST /mcp, stateless', String(index))
      )
    )
    await phase(gateway, callers, async () => await sleep(quietly / 2))
    for (let round = 1; round <= rounds; round++) {
      const base = await quiet(gateway, callers, readers, beat, quietly)
      const trouble = await troubled(gateway, callers, readers, beat, requests)
      const [usual, worst] = [p99(base.times), p99(trouble.times)]
      const growth = trouble.peak - base.peak
      report.row({
        round,
        calls: trouble.times.length,
        'p99 ms before': usual,
        'p99 ms meanwhile': worst,
        'RSS growth MiB': growth / MIB,
        'not cut': trouble.left,
        'last cut after s': trouble.ms / 1000
      })
      report.promise(
        worst <= Math.max(factor * usual, NOISE),
        `round ${round}: the others' p99 is at most ${factor} times what it was: ${worst.toFixed(1)} instead of ${usual.toFixed(1)} ms`
      )
      report.promise(
        growth <= MAX_GROWTH,
        `round ${round}: RSS grows by at most ${MAX_GROWTH / MIB} MiB, not ${(growth / MIB).toFixed()}`
      )
      report.promise(
        trouble.left <= 0,
        `round ${round}: all are cut within ${DEADLINE / 1000} s, not all but ${trouble.left}`
      )
      report.promise(trouble.times.length > 0, `round ${round}: the others make calls`)
    }
    const lost = callers.reduce((sum, { ledger }) => sum + ledger.open + ledger.refused, 0)
    report.promise(lost === 0, `every call of the others is answered, not all but ${lost}`)
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    return report
  }
}

/** The same broadcasts, to clients that read. */
async function quiet (gateway: Gateway, callers: Client[], readers: number, beat: number, ms: number): Promise<Phase> {
  const files = openFiles(gateway.pid)
  const cuts: Array<() => Promise<void>> = []
  for (const kind of readerKinds(readers)) {
    await inBatches(kind.count, async () => {
      cuts.push((await openReader(gateway.port, kind.name)).cut)
    })
  }
  const seen = await phase(gateway, callers, async () => await broadcasting(gateway, beat, async () => await sleep(ms)))
  await Promise.all(cuts.map(async cut => await cut()))
  await until(() => openFiles(gateway.pid) <= files)
  return seen
}

async function troubled (
  gateway: Gateway,
  callers: Client[],
  readers: number,
  beat: number,
  requests: number
): Promise<Phase> {
  const files = openFiles(gateway.pid)
  const cuts: Array<() => Promise<void>> = []
  for (const kind of readerKinds(readers)) {
    await inBatches(kind.count, async () => {
      const reader = await openReader(gateway.port, kind.name)
      reader.pause()
      cuts.push(reader.cut)
    })
  }
  await inBatches(requests, async () => {
    cuts.push(await dribble(gateway.port))
  })
  const seen = await phase(
    gateway,
    callers,
    async () => await broadcasting(gateway, beat, async () => await until(() => openFiles(gateway.pid) <= files + OWN))
  )
  const left = openFiles(gateway.pid) - files
  await Promise.all(cuts.map(async cut => await cut()))
  return { ...seen, left }
}

async function phase (gateway: Gateway, callers: Client[], work: () => Promise<void>): Promise<Phase> {
  const since = performance.now()
  const over = new AbortController()
  let peak = rssOf(gateway.pid)
  const watch = setInterval(() => { peak = Math.max(peak, rssOf(gateway.pid)) }, 50)
  for (const { times } of callers) times.length = 0
  const calling = Promise.all(
    callers.map(async caller => {
      while (!over.signal.aborted) {
        await caller.drive(1, echo)
        await sleep(PAUSE)
      }
    })
  )
  await work()
  over.abort()
  await calling
  clearInterval(watch)
  return { times: callers.flatMap(({ times }) => [...times]), peak, left: 0, ms: performance.now() - since }
}

async function broadcasting (gateway: Gateway, beat: number, work: () => Promise<void>): Promise<void> {
  const over = new AbortController()
  const talking = (async () => {
    while (!over.signal.aborted) {
      await gateway.call('load_flood', { bytes: MESSAGE })
      await sleep(beat)
    }
  })()
  await work()
  over.abort()
  await talking
}

async function until (condition: () => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE
  while (!condition() && performance.now() < deadline) await sleep(50)
}

function p99 (times: number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? NaN
}
