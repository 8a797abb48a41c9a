import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { lastExchange, request, statusOf, exchange, type Head } from '../../support/http-client.js'
import { upgradeHead } from '../../support/websocket-client.js'
import { listening } from '../../support/gateway.js'
import { until } from '../../support/wait.js'

const HOST: Head[number] = ['Host', 'localhost']
const WEBSOCKET = upgradeHead(0).slice(1)
const H2C: Head = [
  ['Connection', 'Upgrade, HTTP2-Settings'],
  ['Upgrade', 'h2c'],
  ['HTTP2-Settings', 'AAMAAABkAAQCAAAAAAIAAAAA']
]
const JSON_TYPE: Head[number] = ['Content-Type', 'application/json']
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

const portOf = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port
const connections = async ({ server }: FastifyInstance): Promise<number> =>
  await new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  )

t.test('a client that offers an upgrade to HTTP/2 is served over HTTP/1.1, body and all', async t => {
  const { app } = await listening(t)
  const whole = request('POST', '/message', [HOST, JSON_TYPE, ...H2C], PING)
  t.match(await exchange(portOf(app), whole), { status: 200, body: /"result":\{\}/ })
  t.match(
    await exchange(portOf(app), whole.subarray(0, -10), whole.subarray(-10)),
    { status: 200, body: /"result":\{\}/ },
    'in parts, too'
  )
  t.equal(await statusOf(portOf(app), request('GET', '/health', [HOST, ...H2C])), 200)
  t.equal(
    await statusOf(portOf(app), request('GET', '/health', [HOST, ['Origin', 'http://evil.example'], ...H2C])),
    403,
    'and what is checked is checked'
  )
  t.equal(
    await statusOf(portOf(app), request('POST', '/message', [HOST, ['Content-Type', 'text/plain'], ...H2C], PING)),
    415
  )
})

t.test('two requests on one connection are two answers, whatever the first one offers', async t => {
  const { app } = await listening(t)
  const socket = connect(portOf(app), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', chunk => { received += String(chunk) })
  socket.write(request('POST', '/message', [HOST, JSON_TYPE, ...H2C], PING))
  await until(() => received.split('"result"').length === 2)
  socket.write(request('POST', '/message', [HOST, JSON_TYPE], PING))
  await until(() => received.split('"result"').length === 3)
})

t.test('a URL that cannot be decoded passes the same checks as any other, and nothing is left of it', async t => {
  const { app } = await listening(t)
  for (const url of ['/%zz', '/%', '/mcp%ff', '/%c0%af', '/a%zz?b=%zz']) {
    for (const more of [[], WEBSOCKET]) {
      t.equal(await statusOf(portOf(app), request('GET', url, [HOST, ...more])), 400, url)
      t.equal(await statusOf(portOf(app), request('GET', url, [['Host', 'evil.example'], ...more])), 403)
      t.equal(await statusOf(portOf(app), request('GET', url, [HOST, ['Origin', 'http://evil.example'], ...more])), 403)
    }
  }
  t.match(
    await lastExchange(portOf(app), request('GET', '/%zz', [HOST, ...WEBSOCKET])),
    { status: 400 },
    'who wanted a WebSocket is let go'
  )
  for (let left = -1; left !== 0;) left = await connections(app)
})

t.test('an upgrade that gets no answer is closed after a while', async t => {
  const { app } = await listening(t, {
    limits: { headersTimeout: 100 },
    plugins: [
      async app => {
        app.get('/stuck', { onRequest: () => {} }, async () => 'never')
      }
    ]
  })
  const socket = connect(portOf(app), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(request('GET', '/stuck', [HOST, ...WEBSOCKET]))
  await once(socket.resume(), 'close')
  t.equal(await statusOf(portOf(app), request('GET', '/mcp', [HOST, ...WEBSOCKET])), 101, 'others are not')
})
