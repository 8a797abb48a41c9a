import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './client.js'
import { transportNames, type TransportName } from './transports/all.js'
import { Gateway } from './gateway.js'
import { mixed } from './questions.js'
import { Report, type Scenario } from '../support/report.js'
import { cpuTime } from './vitals.js'

/** Each transport alone first, with so much of its calls: only then it is known what each of them costs. */
const ALONE = 0.1
/** How long we listen for answers that come a second time. */
const AFTERWARDS = 500

/** Many calls over all transports and in both eras at once, from clients that all count their ids from 0. */
export const mixedCalls: Scenario<{ calls: number, clients: number, timeout: number }> = {
  defaults: { calls: 1_000_000, clients: 12, timeout: 15_000 },
  run: async ({ calls, clients, timeout }, { plugins = [], env = {}, say } = {}) => {
    const report = new Report(
      `mixed-calls: ${calls} calls over ${transportNames.length} transports, ${clients} clients each`,
      say
    )
    const gateway = await Gateway.start({ plugins, env })
    const stdio = await Client.open(gateway, 'stdio', 'stdio')
    const run = async (name: string, kinds: TransportName[], calls: number): Promise<Client[]> => {
      const members = (
        await Promise.all(kinds.map(async kind => (kind === 'stdio' ? [stdio] : await gather(gateway, kind, clients))))
      ).flat()
      await measured(report, gateway, name, members, calls, timeout)
      return members
    }
    const share = Math.ceil(calls / transportNames.length)
    const everybody: Client[] = []
    for (const kind of transportNames) everybody.push(...await run(`${kind} alone`, [kind], share * ALONE))
    // A client that has lost an answer already has nothing to prove.
    if (everybody.every(({ ledger }) => ledger.open === 0)) {
      everybody.push(...(await run('all at once', transportNames, share * (1 - ALONE) * transportNames.length)))
    }
    await sleep(AFTERWARDS)
    judge(report, [...new Set(everybody)], calls)
    const complaints = gateway.complaints
    report.promise(complaints.length === 0, `nothing is logged as an error: ${complaints[0]}`)
    await Promise.all(everybody.map(async ({ connection }) => await connection.close()))
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    return report
  }
}

let serial = 0

async function gather (gateway: Gateway, kind: TransportName, count: number): Promise<Client[]> {
  return await Promise.all(
    Array.from(
      { length: count },
      async () => await Client.open(gateway, kind, `${kind.replace(/\W+/g, '_')}-${serial++}`)
    )
  )
}

async function measured (
  report: Report,
  gateway: Gateway,
  name: string,
  clients: Client[],
  calls: number,
  timeout: number
): Promise<void> {
  const kinds = new Set(clients.map(({ kind }) => kind)).size
  const quota = (kind: string): number =>
    Math.ceil(calls / kinds / clients.filter(client => client.kind === kind).length)
  const before = {
    wall: performance.now(),
    cpu: cpuTime(gateway.pid),
    own: process.cpuUsage(),
    answered: answered(clients)
  }
  await Promise.all(clients.map(async client => await client.drive(quota(client.kind), mixed, timeout)))
  const made = answered(clients) - before.answered
  const { user, system } = process.cpuUsage(before.own)
  report.row({
    what: name,
    calls: made,
    'calls/s': (made / (performance.now() - before.wall)) * 1000,
    'server CPU µs/call': (cpuTime(gateway.pid) - before.cpu) / made,
    'client CPU µs/call': (user + system) / made
  })
}

/** Whether each call has its own answer, once. */
export function judge (report: Report, clients: Client[], calls: number): void {
  const sum = (count: (client: Client) => number): number => clients.reduce((total, client) => total + count(client), 0)
  const figures = {
    sent: sum(({ ledger }) => ledger.sent),
    lost: sum(({ ledger }) => ledger.open),
    refused: sum(({ ledger }) => ledger.refused),
    doubled: sum(({ ledger }) => ledger.doubled),
    misrouted: sum(({ ledger }) => ledger.misrouted)
  }
  report.note(Object.entries(figures).map(([name, count]) => `${name} ${count.toLocaleString('en')}`).join(', '))
  report.promise(figures.sent >= calls, `${calls} calls are made, not ${figures.sent}`)
  for (const [name, count] of Object.entries(figures)) {
    if (name !== 'sent') {
      report.promise(
        count === 0,
        `0 calls are ${name}, not ${count}: ${clients.flatMap(({ ledger }) => ledger.faults)[0] ?? ''}`
      )
    }
  }
}

function answered (clients: Client[]): number {
  return clients.reduce((total, { ledger }) => total + ledger.answered, 0)
}
