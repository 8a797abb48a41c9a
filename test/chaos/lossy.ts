import { setTimeout as sleep } from 'node:timers/promises'
import { Report } from '../support/report.js'
import { Gateway } from './gateway.js'
import { generations, type Talker } from './lossy-client.js'
import { LossyProxy } from './lossy-proxy.js'
import { scenario } from './scenario.js'

/** How long a client may take to come back: both generations wait a second first, and give up after two refusals. */
const TIMEOUT = 60_000
/**
 * Connections that one client may leave behind: four of its reply, four of its own stream, and some on which it has
 * posted.
 */
const MOST_CONNECTIONS = 12

/** What was sent to one client, and what of it arrived. */
interface Tale {
  cuts: number
  sent: number
  lost: number
  double: number
  answered: boolean
  deaf: boolean
  leave: () => Promise<void>
}

/**
 * Official clients whose network goes away again and again, while the server believes that all of their connections are
 * open.
 */
export const lossy = scenario({ cuts: 200, clients: 10 }, async ({ cuts, clients }) => {
  const report = new Report(
    `lossy: ${clients} official clients of each generation, whose connections are cut on their side only, ${cuts} times in all`
  )
  for (const [name, connect] of Object.entries(generations)) {
    const gateway = await Gateway.start()
    const each = Math.ceil(cuts / clients)
    const { connections: before } = await gateway.state()
    const tales = await Promise.all(
      Array.from({ length: clients }, async (_, index) => await suffer(gateway, connect, String(index), each))
    )
    const left = (await gateway.state()).connections - before
    for (const { leave } of tales) await leave()
    const total = (count: (tale: Tale) => number): number => tales.reduce((sum, tale) => sum + count(tale), 0)
    const row = {
      client: name,
      cuts: total(tale => tale.cuts),
      told: total(tale => tale.sent),
      lost: total(tale => tale.lost),
      double: total(tale => tale.double),
      'calls unanswered': total(tale => (tale.answered ? 0 : 1)),
      deaf: total(tale => (tale.deaf ? 1 : 0)),
      'connections left': left
    }
    report.row(row)
    report.promise(
      row.cuts === each * clients,
      `${name}: it is back after each of ${each * clients} cuts, not only after ${row.cuts}`
    )
    report.promise(
      row.told > row.cuts && row.lost === 0 && row.double === 0,
      `${name}: everything comes once, but ${row.lost} of ${row.told} are lost and ${row.double} come twice`
    )
    report.promise(
      row['calls unanswered'] === 0,
      `${name}: every call is answered, but ${row['calls unanswered']} are not`
    )
    report.promise(row.deaf === 0, `${name}: every client hears of a change after the last cut, but ${row.deaf} do not`)
    report.promise(
      left <= clients * MOST_CONNECTIONS,
      `${name}: at most ${clients * MOST_CONNECTIONS} connections are left, not ${left}`
    )
    report.promise(gateway.complaints.length === 0, `nothing is logged as an error: ${gateway.complaints[0]}`)
    await gateway.end()
  }
  return report
})

/** One client behind a network of its own, which is cut as soon as both of its streams have received a message. */
async function suffer (
  gateway: Gateway,
  connect: (url: string) => Promise<Talker>,
  key: string,
  cuts: number
): Promise<Tale> {
  const proxy = await LossyProxy.start(gateway.port)
  const client = await connect(proxy.url)
  const leave = async (): Promise<void> => {
    await client.close()
    await proxy.stop()
  }
  try {
    const { received } = client
    const answer = client.sendNumbers(key, TIMEOUT * (cuts + 2)).then(
      () => true,
      () => false
    )
    let survived = 0
    while (survived < cuts && (await receivesMore(client))) {
      proxy.cut()
      if (await receivesMore(client)) survived++
    }
    await gateway.tool('chaos_change')
    const deaf = !(await until(client, () => received.listChanges > 0))
    const sent = await gateway.stop(key)
    const answered = await Promise.race([answer, sleep(TIMEOUT, false, { ref: false })])
    await until(client, () => received.messages.length >= sent)
    const lost = 2 * sent - new Set(received.progress).size - new Set(received.messages).size
    const double =
      received.progress.length +
      received.messages.length -
      new Set(received.progress).size -
      new Set(received.messages).size
    return { cuts: survived, sent: 2 * sent, lost, double, answered, deaf, leave }
  } catch (error) {
    await leave()
    throw error
  }
}

/** True when something new comes on both streams in time. */
async function receivesMore (client: Talker): Promise<boolean> {
  const { progress, messages } = client.received
  const [before, beside] = [progress.length, messages.length]
  return await until(client, () => progress.length > before && messages.length > beside)
}

async function until (client: Talker, reached: () => boolean): Promise<boolean> {
  const late = AbortSignal.timeout(TIMEOUT)
  const timeUp = new Promise<void>(resolve => late.addEventListener('abort', () => resolve(), { once: true }))
  while (!reached() && !late.aborted) await Promise.race([client.more(), timeUp])
  return reached()
}
