import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from './client.js'
import { announced, Audience } from './audience.js'
import { performHandshake, openSocket } from './transports/websocket.js'
import { Gateway } from './gateway.js'
import { echo } from './questions.js'
import { Report, type Scenario } from '../support/report.js'
import { inBatches } from './batches.js'
import { needSockets } from './vitals.js'

const MAX_KIB = 40

/** Many WebSockets on one gateway. Few of them send requests, and all are notified of a change. */
export const idleWebsockets: Scenario<{ sockets: number, hold: number }> = {
  defaults: { sockets: 10_000, hold: 30 },
  run: async ({ sockets, hold }, { plugins = [], env = {}, say } = {}) => {
    needSockets(sockets)
    const report = new Report(`idle-websockets: ${sockets} initialised WebSockets held for ${hold} s`, say)
    const gateway = await Gateway.start({ plugins, env, ephemeral: true })
    const callers = await Promise.all(
      Array.from(
        { length: Math.ceil(sockets / 100) },
        async (_, index) => await Client.open(gateway, 'WebSocket, handshake', String(index))
      )
    )
    const before = await gateway.vitals()
    const audience = new Audience()
    const since = performance.now()
    await inBatches(sockets - callers.length, async () => {
      const { socket } = await openSocket(gateway.port)
      await performHandshake(socket)
      const listener = audience.join()
      socket.on('message', (data: Buffer) => listener.receive(String(data)))
      socket.on('close', () => listener.leave())
    })
    const opened = performance.now() - since
    const after = await gateway.vitals()
    const calls = await talking(callers, hold)
    const dropped = audience.left
    const news = await announced(gateway, audience)
    const kib = (after.rss - before.rss) / 1024 / audience.size
    report.row({
      sockets: audience.size,
      'KiB RSS each': kib,
      'KiB heap each': (after.heap - before.heap) / 1024 / audience.size,
      'opened in s': opened / 1000,
      'held s': hold,
      dropped,
      calls: calls.made,
      'calls lost': calls.lost,
      'told in ms': news.ms,
      missing: news.missing,
      double: news.double
    })
    report.promise(audience.size + callers.length === sockets, `${sockets} sockets are open, not ${audience.size}`)
    report.promise(sockets < 1_000 || kib <= MAX_KIB, `a socket costs at most ${MAX_KIB} KiB, not ${kib.toFixed(1)}`)
    report.promise(dropped === 0, `no socket is dropped, not ${dropped}`)
    report.promise(
      calls.made > 0 && calls.lost === 0,
      `all calls made meanwhile are answered: ${calls.made} were, ${calls.lost} were not`
    )
    report.promise(
      news.missing === 0 && news.double === 0,
      `all hear of the change once: ${news.missing} do not, ${news.double} do again`
    )
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    return report
  }
}

/** Each makes a call a second. */
async function talking (callers: Client[], seconds: number): Promise<{ made: number, lost: number }> {
  const until = performance.now() + seconds * 1000
  await Promise.all(callers.map(async caller => {
    await sleep(Math.random() * Math.min(1_000, seconds * 500))
    while (performance.now() < until) {
      await caller.drive(1, echo)
      await sleep(1_000)
    }
  }))
  return {
    made: callers.reduce((sum, { ledger }) => sum + ledger.answered, 0),
    lost: callers.reduce((sum, { ledger }) => sum + ledger.open, 0)
  }
}
