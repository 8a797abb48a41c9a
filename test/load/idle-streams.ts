import { setTimeout as sleep } from 'node:timers/promises'
import { announced, Audience } from './audience.js'
import { inBatches } from './batches.js'
import { encode, modernParams } from './transports/transport.js'
import { modernHeaders, openSession } from './transports/post.js'
import { Gateway } from './gateway.js'
import { HttpConnection, type HttpRequest } from '../support/http-connection.js'
import { Report, type Scenario } from '../support/report.js'
import { needSockets } from './vitals.js'

const MAX_KIB = 45

/**
 * Many event streams on one gateway, half of them of sessions, half of them of `subscriptions/listen`. All are notified
 * of a change.
 */
export const idleStreams: Scenario<{ sockets: number, hold: number }> = {
  defaults: { sockets: 10_000, hold: 30 },
  run: async ({ sockets, hold }, { plugins = [], env = {}, say } = {}) => {
    needSockets(sockets)
    const report = new Report(`idle-streams: ${sockets} event streams held for ${hold} s`, say)
    const gateway = await Gateway.start({ plugins, env })
    const audience = new Audience()
    const kinds: Array<[string, (port: number, audience: Audience) => Promise<void>]> = [
      ['GET /mcp of a session', openGet],
      ['subscriptions/listen', openListen]
    ]
    for (const [name, open] of kinds) {
      const before = await gateway.vitals()
      const since = performance.now()
      await inBatches(sockets / kinds.length, async () => await open(gateway.port, audience))
      const seconds = (performance.now() - since) / 1000
      const after = await gateway.vitals()
      const kib = (after.rss - before.rss) / 1024 / (sockets / kinds.length)
      report.row({
        what: name,
        streams: sockets / kinds.length,
        'KiB RSS each': kib,
        'KiB heap each': (after.heap - before.heap) / 1024 / (sockets / kinds.length),
        'opened in s': seconds
      })
      report.promise(sockets < 1_000 || kib <= MAX_KIB, `a stream costs at most ${MAX_KIB} KiB, not ${kib.toFixed(1)}`)
    }
    await sleep(hold * 1000)
    const dropped = audience.left
    const news = await announced(gateway, audience)
    report.row({
      what: 'all',
      streams: audience.size,
      'held s': hold,
      dropped,
      'told in ms': news.ms,
      missing: news.missing,
      double: news.double
    })
    report.promise(audience.size >= sockets, `${sockets} streams are open, not ${audience.size}`)
    report.promise(dropped === 0, `no stream is dropped, not ${dropped}`)
    report.promise(
      news.missing === 0 && news.double === 0,
      `all hear of the change once: ${news.missing} do not, ${news.double} do again`
    )
    const end = await gateway.stop()
    report.promise(end === 0, `the gateway ends with 0, not ${end}`)
    return report
  }
}

async function openGet (port: number, audience: Audience): Promise<void> {
  const connection = new HttpConnection(port)
  const headers = await openSession(connection)
  await listen(
    connection,
    { method: 'GET', path: '/mcp', headers: { ...headers, Accept: 'text/event-stream' } },
    audience
  )
}

async function openListen (port: number, audience: Audience): Promise<void> {
  const question = {
    method: 'subscriptions/listen',
    params: modernParams({ notifications: { toolsListChanged: true } })
  }
  await listen(
    new HttpConnection(port),
    {
      method: 'POST',
      path: '/mcp',
      headers: modernHeaders(question),
      body: encode(0, question.method, question.params)
    },
    audience
  )
}

async function listen (connection: HttpConnection, request: HttpRequest, audience: Audience): Promise<void> {
  const listener = audience.join()
  await new Promise<void>((resolve, reject) =>
    connection.request(request, {
      head: status =>
        status === 200 ? resolve() : reject(new Error(`${request.method} ${request.path} was answered with ${status}`)),
      message: text => listener.receive(text),
      end: () => listener.leave(),
      cut: () => listener.leave()
    })
  )
}
