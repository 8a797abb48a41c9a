import t from 'tap'
import { until } from '../support/wait.js'
import { mirroredHead, post, postHead } from '../support/http-requests.js'
import { call, callTool, initialize, notification } from '../support/messages.js'
import { exchange, request, type Reply } from '../support/http-client.js'
import { upgradeHead } from '../support/websocket-client.js'
import { startServer } from '../support/server.js'
import { summarise } from '../support/summary.js'
import { socketConnection, stdioConnection } from '../support/connections.js'

const list = call('tools/list')
const get = (port: number, target: string) =>
  request('GET', target, [
    ['Host', `127.0.0.1:${port}`],
    ['Accept', 'text/event-stream']
  ])

/** Every request and connection that a client may begin with. */
const BEGINNINGS: Record<string, (port: number) => Buffer> = {
  'POST /message': port => request('POST', '/message', postHead(port), list('legacy')),
  'POST /mcp, stateless': port => request('POST', '/mcp', postHead(port, mirroredHead(list('modern'))), list('modern')),
  'POST /mcp, initialize': port => request('POST', '/mcp', postHead(port), initialize()),
  'GET /sse': port => get(port, '/sse'),
  'GET /mcp/sse': port => get(port, '/mcp/sse'),
  'I6, an upgrade': port => request('GET', '/mcp', upgradeHead(port))
}

t.test('a client that connects during the drain gets Retry-After', async t => {
  const { app, port, seen } = await startServer(t, { grace: 10_000 })
  const socket = await socketConnection({ app, port } as Parameters<typeof socketConnection>[0])
  const stdio = await stdioConnection({ app })
  for (const connection of [socket, stdio]) {
    await connection.write(initialize())
    await connection.inbox.next()
  }
  await socket.write(callTool('hang', {}, 'hanging')('legacy'))
  await until(() => seen.hanging === 1, 'a call in flight')
  const closed = app.close()

  for (const [what, bytes] of Object.entries(BEGINNINGS)) {
    await t.test(`E35: ${what}`, async t => {
      const { status, headers }: Reply = await exchange(port, bytes(port))
      t.equal(status, 503)
      t.match(headers.get('retry-after'), /^\d+$/)
      t.equal(headers.get('connection'), 'close')
    })
  }
  for (const [name, connection] of Object.entries({ socket, stdio })) {
    await connection.write(list('legacy'))
    t.equal(summarise(await connection.inbox.next()), '-32603 id 7', `E35: ${name}, a call of who is there`)
  }
  await socket.write(notification('notifications/cancelled', { requestId: 'hanging' }))
  await closed
  t.equal(summarise(await socket.inbox.next()), 'close 1001')
  t.equal(await post(port, '/message', list('legacy')).then(({ status }) => status, () => 0), 0, 'then nobody is there')
})
