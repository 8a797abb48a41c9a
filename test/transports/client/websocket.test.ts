import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { WebSocketServer, type ServerOptions, type WebSocket } from 'ws'
import { LIMITS } from '../../../protocol/wire/limits.js'
import { Mailbox } from '../../support/mailbox.js'
import { connect, end, startRawServer } from './raw-server.js'

t.test('offers the subprotocol and sends the configured headers', async t => {
  const { url, opened } = await startSocketServer(t, { handleProtocols: offered => offered.has('mcp') ? 'mcp' : false })
  const recorder = await connect(t, 'websocket', `${url}?x=1`, {}, { Authorization: 'Bearer x' })
  const { socket, request } = await opened.take('socket')
  t.match(request, { url: '/mcp?x=1', headers: { authorization: 'Bearer x', 'sec-websocket-protocol': 'mcp' } })

  socket.on('message', (data, isBinary) => {
    const { id } = JSON.parse(String(data)) as { id: number }
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { isBinary } }))
  })
  t.match(await recorder.ask('ping'), { on: undefined, message: { result: { isBinary: false } } })
})

t.test('connects without the subprotocol to a server that does not choose it', async t => {
  const { url, opened } = await startSocketServer(t, { handleProtocols: () => false })
  const recorder = await connect(t, 'websocket', url)
  await opened.take('the first')
  const { socket, request } = await opened.take('the second')
  t.equal(request.headers['sec-websocket-protocol'], undefined)
  socket.send('{"jsonrpc":"2.0","method":"notifications/x"}')
  await recorder.message('notifications/x')
})

t.test('says in words why a server does not take the connection', async t => {
  for (const [status, why] of [
    [401, /status 401.*header Authorization/],
    [404, /status 404/],
    [302, /status 302/],
    [200, /status 200; see that "url" of this server is that of its MCP endpoint/]
  ] as const) {
    const { url } = await startRawServer(t)
    const server = createServer().on('upgrade', (_request, socket) =>
      socket.end(`HTTP/1.1 ${status} x\r\nLocation: http://localhost:1/\r\nContent-Length: 0\r\n\r\n`)
    )
    const at = await listen(t, server)
    await t.rejects(connect(t, 'websocket', at), { message: why })
    t.ok(url)
  }
  const { url } = await startRawServer(t, item => end(item, 404))
  await t.rejects(connect(t, 'websocket', url.replace('http', 'ws')), { message: /status 404|closed/ })
  await t.rejects(connect(t, 'websocket', 'ws://127.0.0.1:1/'), { message: /refused/ })
})

t.test('says in words why a server closed the connection, without its text', async t => {
  for (const [code, why] of [
    [1001, /shutting down/],
    [1008, /refuses/],
    [1013, /overloaded/],
    [4401, /credential/],
    [4999, /code 4999/]
  ] as const) {
    const { url, opened } = await startSocketServer(t)
    const recorder = await connect(t, 'websocket', url)
    const { socket } = await opened.take('socket')
    socket.close(code, 'secret text')
    const report = await recorder.reports.take('closed')
    t.match(report, { what: 'closed', why })
    t.notMatch(JSON.stringify(report), /secret/)
  }
})

t.test(
  'a response that has more values than it may fails the request that it answers, and the link goes on',
  async t => {
    const { url, opened } = await startSocketServer(t)
    const recorder = await connect(t, 'websocket', url, { limits: { ...LIMITS, maxValues: 10 } })
    const { socket } = await opened.take('socket')
    socket.on('message', data => {
      const { id, method } = JSON.parse(String(data)) as { id: number, method: string }
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: { values: Array(method === 'many' ? 50 : 2).fill(1) } }))
    })
    t.match(await recorder.ask('many'), { what: 'failed', why: /response cannot be read/ })
    t.match(await recorder.ask('few'), { message: { result: { values: [1, 1] } } })
  }
)

t.test('ends a connection whose server does not answer pings', async t => {
  const { url, opened } = await startSocketServer(t, { autoPong: false })
  const recorder = await connect(t, 'websocket', url, { heartbeat: 20 })
  await opened.take('socket')
  t.match(await recorder.reports.take('closed'), { what: 'closed', why: /broke off/ })
})

t.test('keeps a connection whose server answers pings', async t => {
  const { url, opened } = await startSocketServer(t)
  const recorder = await connect(t, 'websocket', url, { heartbeat: 500 })
  const { socket } = await opened.take('socket')
  for (let ping = 0; ping < 3; ping++) await once(socket, 'ping')
  t.same(recorder.reports.empty(), [])
})

t.test('ends a connection with a message that is too long', async t => {
  const { url, opened } = await startSocketServer(t)
  const recorder = await connect(t, 'websocket', url)
  const { socket } = await opened.take('socket')
  socket.on('error', () => {})
  socket.send('x'.repeat(2_000_000))
  t.match(await recorder.reports.take('closed'), {
    what: 'closed',
    why: /more than 1048576 bytes \(limit maxUpstreamMessage\)/
  })
})

t.test('refuses requests to a server that does not read', async t => {
  const { url, opened } = await startSocketServer(t)
  const recorder = await connect(t, 'websocket', url, { maxQueue: 100_000 })
  const { socket } = await opened.take('socket')
  socket.pause()
  const text = 'x'.repeat(90_000)
  // The operating system takes some megabytes.
  for (let count = 0; count < 1_000; count++) {
    const { id } = recorder.send('tools/call', { text })
    await new Promise(resolve => setImmediate(resolve))
    const failed = recorder.reports.empty().find(report => report.what === 'failed')
    if (failed !== undefined) return t.match(failed, { what: 'failed', id, why: /does not read/ })
  }
  t.fail('everything was taken')
})

t.test('reports what is no message, and reads on', async t => {
  const { url, opened } = await startSocketServer(t)
  const recorder = await connect(t, 'websocket', url)
  const { socket } = await opened.take('socket')
  socket.send('noise')
  socket.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/x"}'))
  t.match(await recorder.reports.take('invalid'), { what: 'message', message: { kind: 'invalid' } })
  await recorder.message('notifications/x')
})

t.test('closes in time although the server does not answer the close frame', async t => {
  const { url, opened } = await startSocketServer(t)
  const recorder = await connect(t, 'websocket', url)
  const { socket } = await opened.take('socket')
  socket.pause()
  await recorder.link.close()
  t.match(await recorder.reports.take('closed'), { what: 'closed' })
})

interface Opened { socket: WebSocket, request: IncomingMessage }

async function startSocketServer (
  t: Test,
  options: ServerOptions & { autoPong?: boolean } = {}
): Promise<{ url: string, opened: Mailbox<Opened> }> {
  const opened = new Mailbox<Opened>()
  const server = createServer()
  const sockets = new WebSocketServer({ ...options, server })
  sockets.on('connection', (socket, request) => opened.push({ socket, request }))
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate()
  })
  return { url: await listen(t, server), opened }
}

async function listen (t: Test, server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}
