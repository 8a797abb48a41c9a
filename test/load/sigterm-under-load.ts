import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './client.js'
import { transportNames, transports, type TransportName } from './transports/all.js'
import { Gateway } from './gateway.js'
import { echo, together } from './questions.js'
import { Report, type Scenario } from '../support/report.js'

/** How long a gateway may take after its last call is answered, on a machine that has other things to do. */
const LEISURE = 8_000
/** How many calls a client has under way whose transport allows many. */
const DEEP = 50
/** Clients of each kind that have nothing under way when the signal comes. */
const IDLE = 5

/**
 * SIGTERM while calls are in flight on every transport: each is answered. What is asked later is answered or refused in
 * so many words.
 */
export const sigtermUnderLoad: Scenario<{ runs: number, calls: number, shortest: number, longest: number }> = {
  defaults: { runs: 10, calls: 1_000, shortest: 200, longest: 2_000 },
  run: async ({ runs, calls, shortest, longest }, { plugins = [], env = {}, say } = {}) => {
    const report = new Report(
      `sigterm-under-load: ${runs} times SIGTERM with ${calls} calls of ${shortest} to ${longest} ms in flight`,
      say
    )
    for (let run = 1; run <= runs; run++) {
      const gateway = await Gateway.start({ plugins, env })
      const busy = (
        await Promise.all(
          transportNames.map(async kind => await gather(gateway, kind, Math.ceil(calls / transportNames.length)))
        )
      ).flat()
      const idle = (
        await Promise.all(
          transportNames.filter(kind => kind !== 'stdio').map(async kind => await openMany(gateway, kind, 'idle', IDLE))
        )
      ).flat()
      const early = [...busy.map(({ client }) => client), ...idle]
      // A connection that has never carried anything is not kept for long.
      await Promise.all(early.map(async client => await client.drive(1, echo)))
      const crowd = busy.reduce((sum, { share }) => sum + share, 0)
      for (const { client, share } of busy) {
        for (let n = 0; n < share; n++) {
          client.ask(mark => together(mark, crowd, shortest + Math.floor(Math.random() * (longest - shortest))))
        }
      }
      while (Number(await gateway.call('load_begun')) < crowd) await sleep(5)

      const since = performance.now()
      gateway.signal('SIGTERM')
      const deep = busy.map(({ client }) => client).filter(({ depth }) => depth > 1)
      await sleep(50)
      const late = await openMany(gateway, 'POST /message', 'new', IDLE)
      for (const client of [...deep, ...idle, ...late]) client.ask(echo)
      const exit = await gateway.ended
      const ms = performance.now() - since
      const all = [...early, ...late]
      await Promise.all(all.map(async ({ connection }) => await connection.over))
      judge(report, run, { all, before: early.length, crowd, exit, ms, allowed: longest + LEISURE })
    }
    report.note(
      `slowest exit ${Math.max(...report.rows.map(row => Number(row['exit ms']))).toFixed()} ms after SIGTERM`
    )
    return report
  }
}

interface Seen {
  all: Client[]
  before: number
  crowd: number
  exit: number | NodeJS.Signals | null
  ms: number
  allowed: number
}

function judge (report: Report, run: number, { all, before, crowd, exit, ms, allowed }: Seen): void {
  const sum = (count: (client: Client) => number): number => all.reduce((total, client) => total + count(client), 0)
  const figures = {
    answered: sum(({ ledger }) => ledger.answered) - before,
    refused: sum(({ ledger }) => ledger.refused),
    lost: sum(({ ledger }) => ledger.open),
    wrong: sum(({ ledger }) => ledger.doubled + ledger.misrouted)
  }
  const faults = all
    .flatMap(({ ledger, kind }) => [...(ledger.open > 0 ? [`${kind} (${ledger.canary})`] : []), ...ledger.faults])
    .slice(0, 5)
    .join('; ')
  report.row({ run, 'in flight': crowd, ...figures, exit: String(exit), 'exit ms': ms })
  report.promise(
    figures.answered >= crowd,
    `run ${run}: all ${crowd} calls that had begun are answered, not ${figures.answered}`
  )
  report.promise(figures.lost === 0, `run ${run}: no call is lost, not ${figures.lost}: ${faults}`)
  report.promise(
    figures.wrong === 0,
    `run ${run}: no call is answered twice or to somebody else, not ${figures.wrong}: ${faults}`
  )
  report.promise(exit === 0, `run ${run}: the gateway ends with 0, not ${exit}`)
  report.promise(ms <= allowed, `run ${run}: it ends within ${allowed} ms, not ${ms.toFixed()}`)
}

/** As many clients as it takes to have so many calls in flight. */
async function gather (
  gateway: Gateway,
  kind: TransportName,
  calls: number
): Promise<Array<{ client: Client, share: number }>> {
  const deep = kind === 'stdio' ? calls : transports[kind].depth === 1 ? 1 : DEEP
  const clients = await openMany(gateway, kind, 'busy', Math.ceil(calls / deep))
  return clients.map((client, index) => ({ client, share: Math.min(deep, calls - index * deep) }))
}

async function openMany (gateway: Gateway, kind: TransportName, name: string, count: number): Promise<Client[]> {
  return await Promise.all(
    Array.from(
      { length: count },
      async (_, index) => await Client.open(gateway, kind, `${name}-${kind.replace(/\W+/g, '_')}-${index}`)
    )
  )
}
