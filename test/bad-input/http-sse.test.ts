import { connect } from 'node:net'
import t from 'tap'
import { until } from '../support/wait.js'
import { post } from '../support/http-requests.js'
import { call, initialize } from '../support/messages.js'
import { request, statusOf, type Head } from '../support/http-client.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { summarise, summariseReply } from '../support/summary.js'
import { sseConnection } from '../support/connections.js'

const ping = call('ping')('legacy')
const STRANGERS = [
  'x',
  '',
  '__proto__',
  'constructor',
  'toString',
  '%00',
  'x'.repeat(5_000),
  encodeURIComponent('../../x')
]

t.test('HTTP+SSE knows only sessions whose stream is open', async t => {
  const server = await startServer(t)
  const { port, app } = server

  await t.test('H2: an unknown session, even though there is only one', async t => {
    const connection = await sseConnection(server)
    for (const id of STRANGERS) {
      t.equal((await post(port, `/message?sessionId=${id}`, ping)).status, 404, id.slice(0, 40))
    }
    await connection.write(ping)
    t.equal(summarise(await connection.inbox.next()), 'ok id 7', 'it heard nothing but its own answer')
    await connection.close()
    await expectUnharmed(t, server)
  })

  await t.test('H1: a message without a session is answered in its reply, never on the only session', async t => {
    const connection = await sseConnection(server)
    t.equal(summariseReply(await post(port, '/message', ping)), '200 ok id 7')
    t.equal(summariseReply(await post(port, '/mcp', call('tools/list')('legacy'))), '400 -32600 id 7')
    await connection.write(call('ping', {}, 'own')('legacy'))
    t.equal(summarise(await connection.inbox.next()), 'ok id "own"', 'it heard nothing but its own answer')
    await connection.close()
    await expectUnharmed(t, server)
  })

  await t.test('H7: a page of another site opens no stream and posts to none', async t => {
    const connection = await sseConnection(server)
    const evil: Head = [['Host', 'localhost'], ['Origin', 'http://evil.com']]
    for (const target of ['/sse', '/mcp/sse', '/mcp']) {
      t.equal(await statusOf(port, request('GET', target, [...evil, ['Accept', 'text/event-stream']])), 403, target)
    }
    t.equal((await post(port, '/message', ping, [['Origin', 'http://evil.com']])).status, 403)
    await connection.close()
    await expectUnharmed(t, server)
  })

  await t.test('H4: two sessions in one URL', async t => {
    for (const query of ['sessionId=a&sessionId=b', 'sessionId=a&sessionId=a', 'sessionId=&sessionId=']) {
      t.equal((await post(port, `/message?${query}`, ping)).status, 400, query)
    }
    await expectUnharmed(t, server)
  })

  await t.test('a session that has ended is unknown', async t => {
    const connection = await sseConnection(server)
    await connection.close()
    await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0, 'the end of the peer')
    t.match(await connection.write(ping), /^404/)
    await expectUnharmed(t, server)
  })

  await t.test(
    'H6: a body that is not JSON is refused in the HTTP reply, and nothing is sent on the stream',
    async t => {
      const connection = await sseConnection(server)
      t.equal(await connection.write('{'), '400 -32700 id null')
      t.equal(await connection.write(initialize()), '202')
      t.equal(summarise(await connection.inbox.next()), 'ok id 0')
      await connection.close()
      await expectUnharmed(t, server)
    }
  )

  for (const [target, hundreds] of [['/sse', 10], ['/mcp/sse', 3]] as const) {
    await t.test(
      `H8: ${hundreds}00 streams of GET ${target}, opened and cut at once, leave nothing behind`,
      async t => {
        const cut = async () =>
          await new Promise<void>(resolve => {
            const socket = connect({ port, host: '127.0.0.1' })
            socket.on('error', () => {}).on('close', () => resolve())
            socket.write(request('GET', target, [['Host', 'localhost']]), () => socket.destroy())
          })
        for (let round = 0; round < hundreds; round++) await Promise.all(Array.from({ length: 100 }, cut))
        await expectUnharmed(t, server)
      }
    )
  }

  await t.test('a plain message with an unknown version', async t => {
    for (const version of ['banana', '__proto__', '']) {
      t.equal((await post(port, '/message', ping, [['MCP-Protocol-Version', version]])).status, 400, version)
    }
    t.match(
      (await post(port, '/message', ping, [['MCP-Protocol-Version', '2023-01-01']])).body,
      /MCP-Protocol-Version 2023-01-01 is not known; this server speaks 2026-07-28, 2025-11-25, .*2024-11-05/
    )
    t.equal(summariseReply(await post(port, '/message', ping, [['MCP-Protocol-Version', '2025-06-18']])), '200 ok id 7')
    await expectUnharmed(t, server)
  })
})
