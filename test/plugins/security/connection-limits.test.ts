import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { inTime, until } from '../../support/wait.js'
import { lastExchange, request } from '../../support/http-client.js'
import { openSocket } from '../../support/websocket-client.js'
import { listening } from '../../support/gateway.js'

const HEALTH = request('GET', '/health', [['Host', 'localhost']])

async function open (t: Test, port: number, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** What is answered to a request on this connection; nothing when it is closed. */
async function answer (socket: Socket): Promise<string> {
  if (socket.destroyed) return ''
  socket.write(HEALTH)
  return await inTime(new Promise(resolve => {
    socket.once('data', data => resolve(String(data).slice(0, 15)))
    socket.once('close', () => resolve(''))
  }), 'an answer or the end')
}

const portOf = (url: string): number => Number(new URL(url).port)

t.test('one connection too many is closed at once, until another ends', async t => {
  const { app, url } = await listening(t, { limits: { maxConnections: 2 } })
  const [first, second] = [await open(t, portOf(url)), await open(t, portOf(url))]
  await until(() => (app.server as http.Server & { _connections: number })._connections === 2, 'both are known')
  t.equal(await answer(await open(t, portOf(url))), '')
  t.match([await answer(first), await answer(second)], ['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
  t.match(app.mcp.health.now(), { status: 'degraded', parts: { connections: /maxConnections/ } })
  first.destroy()
  await until(() => app.mcp.health.now().status === 'healthy', 'there is room')
  t.equal(await answer(await open(t, portOf(url))), 'HTTP/1.1 200 OK')
})

t.test('a WebSocket counts as the connection that it is', async t => {
  const { url } = await listening(t, { limits: { maxConnections: 1 } })
  const socket = await openSocket(portOf(url))
  t.equal(await answer(await open(t, portOf(url))), '')
  await t.rejects(openSocket(portOf(url)))
  await socket.close()
})

t.test('one address may have so many connections, and other addresses still get theirs', async t => {
  const { app, url } = await listening(t, { limits: { maxConnectionsPerAddress: 2 } })
  const [first, second] = [await open(t, portOf(url)), await open(t, portOf(url))]
  t.match([await answer(first), await answer(second)], ['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
  t.equal(await answer(await open(t, portOf(url))), '')
  t.equal(await answer(await open(t, portOf(url), '127.0.0.2')), 'HTTP/1.1 200 OK')
  t.equal(app.mcp.health.now().status, 'healthy', 'it is theirs to worry about')
})

t.test('as many headers as allowed are read, one more is refused', async t => {
  const { url } = await listening(t, { limits: { maxHeaders: 5 } })
  const headers = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, '1']))
  const ask = async (count: number) => await new Promise<number | undefined>((resolve, reject) => {
    // Host and Connection are two of them.
    http
      .get(`${url}/health`, { agent: false, headers: headers(count - 2) }, reply => {
        reply.resume()
        resolve(reply.statusCode)
      })
      .on('error', reject)
  })
  t.equal(await ask(5), 200)
  t.equal(await ask(6), 431)
  t.equal(await ask(500), 431)
})

t.test('a client that does not send its headers or body in time gets 408 and is cut off', async t => {
  const { url } = await listening(t, { limits: { headersTimeout: 200, requestTimeout: 400 } })
  const late = [
    'POST /message HTTP/1.1\r\nHost: localhost\r\n',
    'POST /message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"json'
  ]
  const cut = Promise.all(late.map(async bytes => (await lastExchange(portOf(url), Buffer.from(bytes))).status))
  t.equal((await fetch(`${url}/health`)).status, 200)
  t.strictSame(await cut, [408, 408])
})

t.test('the time limit of requests may be shorter than that of headers, and longer than Node.js presets', async t => {
  const { url } = await listening(t, { limits: { headersTimeout: 600_000, requestTimeout: 300 } })
  t.equal((await lastExchange(portOf(url), Buffer.from('POST /message HTTP/1.1\r\nHost: localhost\r\n'))).status, 408)
  t.equal((await fetch(`${url}/health`)).status, 200)
})
