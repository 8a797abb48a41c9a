import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './client.js'
import { Crowd } from './crowd.js'
import { transportNames } from './transports/all.js'
import { Faults } from './faults.js'
import { Gateway } from './gateway.js'
import { Report, type Scenario } from '../support/report.js'
import { atRest, difference, settled, survivors, withTolerance } from './settling.js'
import { MIB } from './vitals.js'

const TICK = 50
/** RSS at the end is compared with RSS after this part of the time. */
const SETTLED_IN = 0.1
const MAX_GROWTH = 1.1
/** Below so many minutes, a process is still growing into its work. */
const LONG = 5
const YOUNG = 48 * MIB

/**
 * Steady calls over all transports, clients that come and go, and faults, for a long time: at the end everything is as
 * at the beginning.
 */
export const soak: Scenario<{ minutes: number, rate: number, visits: number, faults: number }> = {
  defaults: { minutes: 10, rate: 500, visits: 20, faults: 5 },
  run: async ({ minutes, rate, visits, faults }, { plugins = [], env = {}, say } = {}) => {
    const report = new Report(`soak: ${minutes} minutes, ${rate} calls/s, ${visits} visits/s, ${faults} faults/s`, say)
    const gateway = await Gateway.start({ plugins, env })
    const crowd = new Crowd(gateway)
    const trouble = new Faults(gateway)
    // What is made once and kept is made now.
    await Promise.all(transportNames.filter(kind => kind !== 'stdio').map(async kind => await crowd.visit(kind)))
    await trouble.each()
    const stdio = await Client.open(gateway, 'stdio', 'steady-stdio')
    const base = await atRest(gateway)
    const objects = minutes < LONG ? {} : await gateway.objects()
    await crowd.settle(stdio)

    const length = minutes * 60_000
    const since = performance.now()
    const loops = [
      every(TICK, length, n => crowd.call((rate * TICK) / 1000, n)),
      every(1000 / visits, length, n => crowd.come(n)),
      every(1000 / faults, length, n => trouble.next(n))
    ]
    const marks = new Set([
      SETTLED_IN * length,
      ...Array.from({ length: Math.floor(minutes) }, (_, minute) => (minute + 1) * 60_000)
    ])
    let early = 0
    for (const mark of [...marks].sort((a, b) => a - b)) {
      await sleep(Math.max(0, mark - (performance.now() - since)))
      const { rss, heap, sessions, peers } = await gateway.vitals()
      if (mark === SETTLED_IN * length) early = rss
      report.row({
        minute: mark / 60_000,
        'RSS MiB': rss / MIB,
        'heap MiB': heap / MIB,
        sessions,
        peers,
        calls: crowd.answered,
        visits: crowd.visits,
        faults: trouble.made
      })
    }
    await Promise.all(loops)
    await crowd.leave()
    await trouble.over()
    const rss = early * MAX_GROWTH + (minutes < LONG ? YOUNG : 0)
    const { vitals, left } = await settled(gateway, { ...withTolerance(base), heap: Infinity, rss })
    report.row({
      minute: 'after',
      'RSS MiB': vitals.rss / MIB,
      'heap MiB': vitals.heap / MIB,
      sessions: vitals.sessions,
      peers: vitals.peers,
      calls: crowd.answered,
      visits: crowd.visits,
      faults: trouble.made
    })
    report.note(
      `difference to the beginning: ${Object.entries(difference(base, vitals))
        .map(([name, count]) => `${name} ${count.toFixed()}`)
        .join(', ')}`
    )
    report.note(
      `lost ${crowd.lost}, refused ${crowd.refused}, doubled or misrouted ${crowd.wrong}, calls held back ${crowd.heldBack}`
    )
    report.promise(
      left.length === 0,
      `peers, sessions and files are what they were, and RSS at most ${(rss / MIB).toFixed()} MiB: ${left.join(', ')}`
    )
    const alive = minutes < LONG ? [] : survivors(objects, await gateway.objects())
    report.promise(alive.length === 0, `no object outlives its connection: ${alive.join(', ')}`)
    report.promise(crowd.lost === 0, `no call is lost, not ${crowd.lost}`)
    report.promise(
      crowd.wrong + crowd.refused === 0,
      `no call is refused, doubled or misrouted: ${crowd.faults.slice(0, 3).join('; ')}`
    )
    report.promise(
      crowd.answered >= (rate * minutes * 60) / 2,
      `at least half of the calls that were wanted could be made, not ${crowd.answered}`
    )
    report.promise(trouble.wrong.length === 0, `bad messages are refused: ${trouble.wrong[0]}`)
    report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    return report
  }
}

/** Does something in even steps until the time is over; what a busy machine misses is made up for. */
async function every (ms: number, length: number, work: (turn: number) => void): Promise<void> {
  const since = performance.now()
  for (let turn = 0; turn * ms < length; turn++) {
    const wait = turn * ms - (performance.now() - since)
    if (wait > 0) await sleep(wait)
    work(turn)
  }
}
