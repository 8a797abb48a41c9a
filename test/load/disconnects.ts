import { breaks } from './breaks.js'
import { Gateway } from './gateway.js'
import { Report, type Scenario } from '../support/report.js'
import { atRest, difference, settled, survivors, TOLERANCE, withTolerance } from './settling.js'
import { MIB } from './vitals.js'

/** Connections that break at the same time. */
const AT_ONCE = 50
/** Resets of each kind before anything is measured, at least. */
const WARM = 10
/** From how many resets on it is worth the time to count objects. */
const MANY = 500

/** Abrupt ends of connections of every kind: afterwards nothing of them is left. */
export const disconnects: Scenario<{ count: number, timeout: number }> = {
  defaults: { count: 10_000, timeout: 20_000 },
  run: async ({ count, timeout }, { plugins = [], env = {}, say } = {}) => {
    const report = new Report(`disconnects: ${count} resets of each kind`, say)
    const gateway = await Gateway.start({ plugins, env })
    // What is made once and kept is made now.
    for (const kind of Object.values(breaks)) {
      await repeat(Math.max(WARM, count / 20), async (times, name) => await kind(gateway, times, name))
    }
    const base = await atRest(gateway)
    const objects = count < MANY ? undefined : await gateway.objects()
    let { lateCalls } = base
    for (const [name, kind] of Object.entries(breaks)) {
      const since = performance.now()
      await repeat(count, async (times, worker) => await kind(gateway, times, worker))
      const seconds = (performance.now() - since) / 1000
      const { vitals, left } = await settled(gateway, withTolerance(base), timeout)
      const begun = vitals.lateCalls - lateCalls
      lateCalls = vitals.lateCalls
      report.row({
        what: name,
        resets: count,
        '/s': count / seconds,
        'calls begun': begun,
        ...difference(base, vitals)
      })
      report.promise(
        !name.includes('mid-call') || begun >= count / 10,
        `resets of ${name} come when the call has begun, not only ${begun} of them`
      )
      report.promise(
        left.length === 0,
        `after ${count} resets of ${name} everything is back to where it was: ${left.join(', ')}`
      )
      // What is left of one kind would be found again after each of the others.
      if (left.length > 0) break
    }
    if (objects !== undefined) compare(report, objects, await gateway.objects())
    report.note(`RSS ${(base.rss / MIB).toFixed()} MiB before. Allowed: ${TOLERANCE}`)
    const complaints = gateway.complaints
    report.promise(complaints.length === 0, `nothing is logged as an error: ${complaints[0]}`)
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    return report
  }
}

function compare (report: Report, before: Record<string, number>, after: Record<string, number>): void {
  report.note(
    `objects alive: ${Object.entries(after)
      .map(([name, count]) => `${name} ${count} (before ${before[name]})`)
      .join(', ')}`
  )
  const left = survivors(before, after)
  report.promise(left.length === 0, `no object outlives its connection: ${left.join(', ')}`)
}

async function repeat (count: number, work: (times: number, name: string) => Promise<void>): Promise<void> {
  const workers = Math.min(AT_ONCE, count)
  const times = Math.ceil(count / workers)
  await Promise.all(Array.from({ length: workers }, async (_, index) => await work(times, String(index))))
}
