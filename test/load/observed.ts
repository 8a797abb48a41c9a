import { fileURLToPath } from 'node:url'
import { HttpConnection } from '../support/http-connection.js'
import { ADA, apiKeys, bearer, BOB } from '../support/keys.js'
import { seriesOf, type Series } from '../support/metrics.js'
import { Report, type Scenario } from '../support/report.js'
import { Gateway } from './gateway.js'
import type { Caller } from './observed/caller.js'
import { stdio, ways } from './observed/callers.js'
import { addLine, callKey, rateRefusals, Tally, tallyOf, timedCalls } from './observed/counts.js'
import { inventing, kinds, type Kind } from './observed/kinds.js'
import { beRefused, drive, Own, visit } from './observed/lanes.js'
import { readUntil } from './observed/read-until.js'

const PLUGIN = fileURLToPath(new URL('observed/plugin.js', import.meta.url))
const OUTCOMES = ['ok', 'failed', 'error', 'denied', 'cancelled']

const OPTIONS = {
  PATCHBAY_METRICS: 'true',
  PATCHBAY_API_KEYS: JSON.stringify(apiKeys),
  PATCHBAY_TOKEN: ADA,
  PATCHBAY_TOOL_RATES: JSON.stringify({ load_rated: 1 }),
  PATCHBAY_LIMITS: 'maxWrongCredentials=1000000000'
}

/**
 * Calls that end in every way, then names that do not exist. Afterwards the program, the audit log and `/metrics` have
 * the same counts.
 */
export const observed: Scenario<{ calls: number, names: number, clients: number, timeout: number }> = {
  defaults: { calls: 10_000, names: 10_000, clients: 3, timeout: 15_000 },
  run: async ({ calls, names, clients, timeout }, { plugins = [], env = {}, say } = {}) => {
    const report = new Report(`observed: ${calls} mixed calls, then ${names} names that do not exist`, say)
    const [own, log] = [new Own(), new Tally()]
    const gateway = await Gateway.start({
      plugins: [PLUGIN, ...plugins],
      env: { ...OPTIONS, ...env },
      logLevel: 'debug',
      onLog: line => addLine(log, line)
    })
    const callers = await gather(gateway, clients, own)

    await round(gateway, callers, kinds, calls, own)
    const before = await readUntil(
      async () => await scrape(gateway.port),
      series => timedCalls(series) >= own.calls.total,
      timeout
    )
    const firstNames = own.names
    await round(gateway, callers, inventing, names, own)
    const after = await readUntil(
      async () => await scrape(gateway.port),
      series => timedCalls(series) >= own.calls.total,
      timeout
    )

    await Promise.all(callers.map(async caller => await caller.close()))
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    compare(report, own, log, after)
    report.promise(own.calls.total >= calls + names, `${calls + names} calls are made, not ${own.calls.total}`)
    judgeNames(report, before, after, own.names - firstNames)
    return report
  }
}

/** All clients, whose handshakes are calls, too. */
async function gather (gateway: Gateway, clients: number, own: Own): Promise<Caller[]> {
  const callers = await Promise.all([
    stdio(gateway),
    ...ways.flatMap(open => Array.from({ length: clients }, async () => await open(gateway)))
  ])
  for (const { hasHandshake, ...caller } of callers) {
    if (hasHandshake) own.calls.add(callKey({ method: 'initialize', ...caller, outcome: 'ok' }))
  }
  return callers
}

/** Shares the calls out; each client makes each kind at least once. */
async function round ({ port }: Gateway, callers: Caller[], kinds: Kind[], calls: number, own: Own): Promise<void> {
  const share = Math.max(kinds.length, Math.ceil(calls / (callers.length + 1)))
  await Promise.all([
    ...callers.map(async caller => await drive(caller, kinds, share, own)),
    visit(port, share, own),
    beRefused(port, share, own)
  ])
}

async function scrape (port: number): Promise<Series> {
  const connection = new HttpConnection(port)
  let text = ''
  await new Promise<void>((resolve, reject) =>
    connection.request(
      { method: 'GET', path: '/metrics', headers: bearer(BOB) },
      {
        message: part => {
          text += part
        },
        end: status => {
          if (status === 200) resolve()
          else reject(new Error(`/metrics is answered ${status}`))
        },
        cut: () => reject(new Error('/metrics was cut'))
      }
    )
  )
  connection.socket.destroy()
  return seriesOf(text)
}

function compare (report: Report, own: Own, log: Tally, series: Series): void {
  const metrics = tallyOf(series)
  report.row({
    counted: 'by the program',
    calls: own.calls.total,
    'timed calls': '-',
    ...byOutcome(own),
    'refused requests': own.refused.total,
    'calls refused for their rate': own.rated
  })
  report.row({
    counted: 'in the audit log',
    calls: log.calls.total,
    'timed calls': '-',
    ...byOutcome(log),
    'refused requests': log.refused.total,
    'calls refused for their rate': '-'
  })
  report.row({
    counted: 'in /metrics',
    calls: metrics.calls.total,
    'timed calls': timedCalls(series),
    ...byOutcome(metrics),
    'refused requests': metrics.refused.total,
    'calls refused for their rate': rateRefusals(series)
  })
  for (const what of ['calls', 'refused'] as const) {
    for (const [name, other] of [['the audit log', log], ['/metrics', metrics]] as const) {
      const difference = own[what].difference(other[what])
      report.promise(difference === undefined, `the program and ${name} have the same counts, not ${difference}`)
    }
  }
  report.promise(
    timedCalls(series) === own.calls.total,
    `${own.calls.total} calls are timed, not ${timedCalls(series)}`
  )
  report.promise(
    rateRefusals(series) === own.rated && own.rated > 0,
    `${own.rated} calls are refused for their rate, not ${rateRefusals(series)}`
  )
  for (const [outcome, count] of Object.entries(byOutcome(own))) {
    report.promise(count > 0, `some calls end with ${outcome}`)
  }
  report.promise(own.refused.size > 1, 'requests are refused with several statuses')
}

const byOutcome = ({ calls }: Tally): Record<string, number> =>
  Object.fromEntries(
    OUTCOMES.map(outcome => [
      outcome,
      [...calls].reduce((sum, [key, count]) => (key.includes(`outcome="${outcome}"`) ? sum + count : sum), 0)
    ])
  )

/** Operations of the store happen from time to time, also without a call. */
const isCounted = (key: string): boolean => /^(patchbay|mcp)_/.test(key) && !key.startsWith('patchbay_store_')

function judgeNames (report: Report, before: Series, after: Series, names: number): void {
  const added = [...after.keys()].filter(key => isCounted(key) && !before.has(key))
  report.note(
    `${names.toLocaleString('en')} names that do not exist added ${added.length} series to ${[...after.keys()].filter(isCounted).length.toLocaleString('en')}`
  )
  report.promise(added.length === 0, `invented names add no series: ${added[0]}`)
  const shown = [...after.keys()].find(key => key.includes('invented'))
  report.promise(shown === undefined, `no label has an invented name: ${shown}`)
}
