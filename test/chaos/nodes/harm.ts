import { setTimeout as sleep } from 'node:timers/promises'
import { Report, type Scenario } from '../../support/report.js'
import { scenario } from '../scenario.js'
import { Cluster, type Route } from './cluster.js'
import { recovery } from './recovery.js'
import { OUTCOMES, Tally, type Outcome } from './tally.js'
import { Traffic } from './traffic.js'

/** A harm that is done to nodes or to their Redis while clients call, and what may happen to those clients. */
export interface Harm<Options extends Record<string, number>> {
  title: string
  defaults: Options
  route?: Route
  /** Settings of Redis. */
  settings?: Record<string, string>
  /**
   * Outcomes that calls in sessions may have besides their answer. Calls of the newest revision always get theirs, as
   * do WebSockets.
   */
  allows?: Outcome[]
  /** True where events may be lost: those that Redis could not take, or has lost. */
  losesEvents?: boolean
  /**
   * Settles when the harm is over; with how long it took until everything worked again, if that is not measured from
   * then on.
   */
  run: (cluster: Cluster, options: Options, report: Report, tally: Tally) => Promise<number | void>
}

/**
 * How many clients of each kind there are, how long there is no harm before, and how long a call may wait and all may
 * take to work again.
 */
const COMMON = { each: 3, calm: 1_500, wait: 500, back: 5_000 }
const INDEPENDENT = ['modern', 'WebSocket']
const RESUMED = ['streamed', 'listen', 'burst']

export function nodesScenario<Options extends Record<string, number>> (harm: Harm<Options>): Scenario {
  return scenario({ ...COMMON, ...harm.defaults }, async options => {
    const report = new Report(`nodes: ${harm.title}`)
    const [cluster, tally] = [await Cluster.start(harm.route, harm.settings), new Tally()]
    const traffic = new Traffic(cluster, tally)
    const { each, calm, wait, back } = options
    traffic.start(each)
    await sleep(calm)
    const before = tally.longest
    cluster.isHarmed = true
    const recovered = await harm.run(cluster, options, report, tally) ?? await recovery(cluster)
    cluster.isHarmed = false
    await sleep(calm)
    await traffic.stop()
    printFigures(report, cluster, tally, recovered)
    judgeCalls(report, tally, harm.allows ?? [], harm.losesEvents === true)
    report.promise(
      harm.losesEvents === true || tally.events.lost === 0,
      `no event is lost, not ${tally.events.lost}: ${sampleOf(tally, /^events/)}`
    )
    report.promise(
      tally.events.doubled === 0,
      `no event that has an id comes twice, not ${tally.events.doubled}: ${sampleOf(tally, /^events/)}`
    )
    report.promise(
      tally.events.disordered === 0,
      `the events of a reply are in order, not out of it ${tally.events.disordered} times: ${sampleOf(tally, /^events of a reply/)}`
    )
    report.promise(
      tally.longest <= before + wait,
      `no call of the newest revision waits for Redis: the longest took ${tally.longest.toFixed()} ms, ${before.toFixed()} ms before`
    )
    report.promise(recovered <= back, `everything works again within ${back} ms, not ${recovered.toFixed()}`)
    report.promise(
      cluster.exits === 0 && cluster.unhandled.length === 0,
      `no process exits (${cluster.exits}), no error is unhandled: ${cluster.unhandled[0]}`
    )
    await cluster.stop()
    return report
  })
}

function printFigures (report: Report, cluster: Cluster, tally: Tally, recovered: number): void {
  const { heard, lost, doubled, disordered } = tally.events
  const { before, after } = cluster.memory
  report.row({
    calls: tally.count(),
    ...Object.fromEntries(OUTCOMES.map(outcome => [outcome, tally.count(outcome)])),
    'longest ms': tally.longest,
    'back ms': recovered
  })
  for (const kind of tally.kinds) {
    report.row({ calls: kind, ...Object.fromEntries(OUTCOMES.map(outcome => [outcome, tally.count(outcome, kind)])) })
  }
  report.note(
    `events: heard ${heard}, lost ${lost}, doubled ${doubled}, out of order ${disordered}, numbers given twice ${tally.twice}`
  )
  report.note(
    `processes: exits ${cluster.exits}, unhandled errors ${cluster.unhandled.length}, RSS of all nodes ${before.toFixed()} MiB before, ${after.toFixed()} MiB after`
  )
  for (const [text, times] of cluster.warnings) {
    if (!text.startsWith('option data')) report.note(`  logged ${times} times: ${text.slice(0, 200)}`)
  }
  for (const [name, samples] of tally.samples) report.note(`  ${name}: ${samples[0]}`)
}

function judgeCalls (report: Report, tally: Tally, allows: Outcome[], losesEvents: boolean): void {
  const broken = OUTCOMES.filter(outcome => outcome !== 'right' && !allows.includes(outcome))
  for (const kind of tally.kinds.filter(kind => !kind.includes('harmed'))) {
    for (const outcome of INDEPENDENT.includes(kind) ? OUTCOMES.slice(1) : broken) {
      // A reply that Redis could not store cannot be resumed.
      if (losesEvents && outcome === 'gone' && RESUMED.includes(kind)) continue
      const count = tally.count(outcome, kind)
      report.promise(
        count === 0,
        `no call (${kind}) is ${outcome}, not ${count}: ${tally.samples.get(`${kind} ${outcome}`)?.[0]}`
      )
    }
  }
  report.promise(tally.count('wrong') === 0, `nothing is answered wrongly: ${sampleOf(tally, /wrong$/)}`)
  report.promise(tally.twice === 0, `no number is given twice, not ${tally.twice}: ${sampleOf(tally, /^twice/)}`)
  report.promise(tally.count('right') > 0, 'calls are answered')
}

function sampleOf ({ samples }: Tally, name: RegExp): string {
  return [...samples].find(([of]) => name.test(of))?.[1][0] ?? ''
}
