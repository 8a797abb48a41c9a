import { createHash } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../support/wait.js'
import { postHead } from '../support/http-requests.js'
import { call } from '../support/messages.js'
import { request, type Head } from '../support/http-client.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'

const EXPECT: [string, string] = ['Expect', '100-continue']
const body = call('ping')('legacy')
const length = (bytes: number): [string, string] => ['Content-Length', String(bytes)]

t.test('E30: a client that asks before it sends its body is refused before it sends it', async t => {
  const server = await startServer(t)
  const refused: Array<[what: string, status: number, target: string, head: Head]> = [
    ['a body that is too large', 413, '/message', postHead(server.port, [EXPECT, length(100_000_000)])],
    ['the same at /mcp', 413, '/mcp', postHead(server.port, [EXPECT, length(100_000_000)])],
    [
      'a Host that is not served',
      403,
      '/message',
      [['Host', 'evil.example'], ['Content-Type', 'application/json'], EXPECT, length(100)]
    ],
    [
      'an Origin that is not allowed',
      403,
      '/message',
      postHead(server.port, [['Origin', 'https://evil.example'], EXPECT, length(100)])
    ],
    [
      'a type that is not JSON',
      415,
      '/message',
      [['Host', 'localhost'], ['Content-Type', 'text/plain'], EXPECT, length(100)]
    ],
    ['a path where nothing is', 404, '/nothing', postHead(server.port, [EXPECT, length(100)])],
    ['a method that is not served', 405, '/health', postHead(server.port, [EXPECT, length(100)])],
    ['another expectation', 417, '/message', postHead(server.port, [['Expect', 'miracles'], length(100)])]
  ]
  for (const [what, status, target, head] of refused) {
    await t.test(what, async t => {
      const client = talk(server, request('POST', target, head))
      await until(() => client.received().includes('\r\n\r\n'), 'a reply')
      t.match(client.received(), new RegExp(`^HTTP/1\\.1 ${status} `))
      client.socket.destroy()
      await expectUnharmed(t, server)
    })
  }
})

t.test('E30: so is one without a credential', async t => {
  const key = 'a-secret-of-many-letters'
  const server = await startServer(t, {
    apiKeys: [{ name: 'ada', hash: `sha256:${createHash('sha256').update(key).digest('hex')}`, scopes: ['mcp'] }]
  })
  await begins(t, server, [], 401)
  await begins(t, server, [['Authorization', `Bearer ${key}`]], 100)
})

t.test('E30: a client that may send its body gets 100 Continue once, and an answer', async t => {
  const server = await startServer(t)
  for (const target of ['/message', '/message']) {
    const client = talk(server, request('POST', target, postHead(server.port, [EXPECT, length(body.length)])))
    await until(() => client.received().includes('100 Continue\r\n\r\n'), 'the permission')
    client.socket.write(body)
    await until(() => client.received().includes('"result"'), 'the answer')
    t.match(client.received(), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
    t.equal(client.received().split('100 Continue').length, 2)
    client.socket.destroy()
  }
  await expectUnharmed(t, server)
})

async function begins (t: Test, server: Server, head: Head, status: number): Promise<void> {
  const client = talk(
    server,
    request('POST', '/message', postHead(server.port, [...head, EXPECT, length(body.length)]))
  )
  await until(() => client.received().includes('\r\n\r\n'), 'a reply')
  t.match(client.received(), new RegExp(`^HTTP/1\\.1 ${status} `))
  client.socket.destroy()
}

/** Sends these bytes and nothing else by itself. */
function talk ({ port }: Server, bytes: Buffer): { socket: Socket, received: () => string } {
  let received = ''
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.on('data', chunk => { received += chunk.toString() })
  socket.write(bytes)
  return { socket, received: () => received }
}
