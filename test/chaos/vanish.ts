import { endSession, openSession } from '../support/http-requests.js'
import { initialize, NEWEST } from '../support/messages.js'
import { Gateway } from './gateway.js'
import { Line } from './line.js'
import type { Seen } from './plugin.js'
import { vanishFromStdio } from './vanish-stdio.js'
import { points, type Point, type Visit } from './points.js'
import { Report } from '../support/report.js'
import { scenario } from './scenario.js'

const AT_ONCE = 10
/**
 * How soon a call has to know that its client is gone; on a machine that is busy with other things it may take longer.
 */
const SOON = 1_000
const TIMEOUT = 60_000

interface Round { prefix: string, times: number, work: number }

/**
 * Clients that vanish with a reset, at every point of the life of a connection: calls end where they should, and only
 * there.
 */
export const vanish = scenario({ times: 100, work: 1_500 }, async ({ times, work }) => {
  const report = new Report(`vanish: ${points.length} points, ${times} resets at each`)
  const gateway = await Gateway.start()
  const { pid } = gateway
  for (const [index, point] of points.entries()) {
    await tryPoint(report, gateway, point, { prefix: `${index}/`, times, work })
  }
  report.promise(
    gateway.pid === pid && gateway.complaints.length === 0,
    `nothing is logged as an error: ${gateway.complaints[0]}`
  )
  const end = await gateway.end()
  report.promise(end === 0, `the gateway ends with 0, not ${String(end)}`)
  await vanishFromStdio(report, work)
  return report
})

async function tryPoint (
  report: Report,
  gateway: Gateway,
  point: Point,
  { prefix, times, work }: Round
): Promise<void> {
  const { name, fate } = point
  const gone = new Map<string, number>()
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, times) }, async (_, worker) => {
      for (let time = worker; time < times; time += AT_ONCE) {
        gone.set(`${prefix}${time}.`, await once(point, { gateway, key: `${prefix}${time}.`, workMs: work }))
      }
    })
  )
  const expected = fate === 'no call' ? 0 : times
  const { peers, sessions, calls } = await gateway.until(
    ({ peers, calls }) => peers === 0 && ended(calls).length === expected,
    TIMEOUT,
    prefix
  )
  const how = ended(calls).map(([, { how }]) => how)
  const late = fate === 'aborted' ? ended(calls).map(([key, { ended = 0 }]) => ended - (gone.get(key) ?? 0)) : []
  report.row({
    'the client vanishes at': name,
    calls: Object.keys(calls).length,
    finished: how.filter(word => word === 'finished').length,
    aborted: how.filter(word => word === 'aborted').length,
    'slowest ms': late.length === 0 ? '' : Math.max(...late)
  })
  report.promise(peers === 0 && sessions === 0, `${name}: nobody is left, not ${peers} peers and ${sessions} sessions`)
  report.promise(
    Object.keys(calls).length === expected,
    `${name}: ${expected} calls begin, not ${Object.keys(calls).length}`
  )
  report.promise(how.length === expected && how.every(word => word === fate), `${name}: each call is ${fate}`)
  report.promise(
    late.every(ms => ms <= SOON),
    `${name}: a call is aborted within ${SOON} ms, not ${Math.max(...late)}`
  )
}

/** Gives when the client was gone. */
async function once (point: Point, visit: Omit<Visit, 'session'>): Promise<number> {
  const { gateway, key, workMs } = visit
  const session = await openSession(gateway.port, initialize(NEWEST, { elicitation: {} }))
  const line = await Line.open(gateway.port)
  await point.reach(line, { ...visit, session })
  line.reset()
  const gone = Date.now()
  // A session that is ended takes its calls with it, so those that go on are waited for.
  if (point.fate === 'finished') {
    await gateway.until(({ calls }) => calls[key]?.ended !== undefined, workMs + TIMEOUT, key)
  }
  await endSession(gateway.port, session)
  return gone
}

const ended = (calls: Record<string, Seen>): Array<[string, Seen]> =>
  Object.entries(calls).filter(([, { ended }]) => ended !== undefined)
