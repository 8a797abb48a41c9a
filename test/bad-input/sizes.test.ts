import t from 'tap'
import { endSession, openSession, post, postHead, postModern } from '../support/http-requests.js'
import { callTool, initialize } from '../support/messages.js'
import { exchange, lastExchange, request } from '../support/http-client.js'
import { openSocket, promise } from '../support/websocket-client.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { summarise, summariseReply } from '../support/summary.js'
import { stdioConnection } from '../support/connections.js'

const LIMIT = 65_536

/** A good call of exactly this many bytes. */
function sized (era: 'legacy' | 'modern', bytes: number): string {
  const bare = callTool('echo', { text: '' })(era)
  return callTool('echo', { text: 'x'.repeat(bytes - bare.length) })(era)
}

t.test('nothing larger than the limit is accepted', async t => {
  const server = await startServer(t, { maxMessage: LIMIT })
  const { port } = server
  const over = sized('legacy', LIMIT + 1)
  const just = sized('legacy', LIMIT)

  await t.test('A25: a body may be as large as the limit and not a byte larger', async t => {
    const id = await openSession(port, initialize())
    const session = async (body: string) => summariseReply(await post(port, '/mcp', body, [['Mcp-Session-Id', id]]))
    t.equal(await session(just), '200 ok id 7')
    t.equal(await session(over), '413 -32600 id null')
    t.equal(summariseReply(await post(port, '/message', just)), '200 ok id 7')
    t.equal(summariseReply(await post(port, '/message', over)), '413 -32600 id null')
    t.equal(summariseReply(await post(port, '/message?sessionId=x', over)), '413 -32600 id null')
    t.equal(summariseReply(await postModern(port, sized('modern', LIMIT))), '200 ok id 7')
    t.equal(summariseReply(await postModern(port, sized('modern', LIMIT + 1))), '413 -32600 no id')
    await endSession(port, id)
    await expectUnharmed(t, server)
  })

  await t.test('A25: a body in chunks has the same limit', async t => {
    const head = request('POST', '/message', postHead(port, [['Transfer-Encoding', 'chunked']]))
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    t.equal(summariseReply(await exchange(port, head, chunk(just), '0\r\n\r\n')), '200 ok id 7')
    t.equal((await exchange(port, head, chunk(over), '0\r\n\r\n')).status, 413)
    await expectUnharmed(t, server)
  })

  await t.test('A25: a frame may be as large as the limit and not a byte larger', async t => {
    const socket = await openSocket(port)
    socket.send(initialize())
    t.equal(summarise(await socket.inbox.next()), 'ok id 0')
    socket.send(just)
    t.equal(summarise(await socket.inbox.next()), 'ok id 7')
    socket.send(over)
    t.equal(summarise(await socket.inbox.next()), 'close 1009')
    await socket.close()
    await expectUnharmed(t, server)
  })

  await t.test('A25: a line may be as long as the limit; a longer one is refused once, up to its end', async t => {
    const connection = await stdioConnection(server, LIMIT)
    await connection.write(initialize())
    t.equal(summarise(await connection.inbox.next()), 'ok id 0')
    await connection.write(just)
    t.equal(summarise(await connection.inbox.next()), 'ok id 7')
    for (let part = 0; part < 5; part++) connection.raw('x'.repeat(LIMIT))
    await connection.write(over)
    await connection.write(just)
    t.equal(summarise(await connection.inbox.next()), '-32600 id null')
    t.equal(summarise(await connection.inbox.next()), 'ok id 7')
    await connection.close()
    t.equal(connection.inbox.size, 0)
    await expectUnharmed(t, server)
  })

  await t.test('A26: a body declared huge is refused before it is sent', async t => {
    for (const [target, length] of [
      ['/mcp', '10000000000'],
      ['/message', '10000000000'],
      ['/message', '9007199254740992']
    ] as const) {
      const head = request('POST', target, postHead(port, [['Content-Length', length]]))
      t.equal((await exchange(port, head, '{"jsonr')).status, 413, `${target} ${length}`)
    }
    const head = request('POST', '/message', postHead(port, [['Content-Length', '9'.repeat(30)]]))
    t.match((await lastExchange(port, head)).status, /^4(00|13)$/, 'a length beyond all numbers')
    await expectUnharmed(t, server)
  })

  await t.test('A26, I20 and I21: a frame declared huge is refused before it is sent', async t => {
    for (const length of [BigInt(LIMIT + 1), 200n * 1024n * 1024n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n]) {
      const socket = await openSocket(port)
      socket.write(promise(length))
      t.match(summarise(await socket.inbox.next()), /^close 1009$/, `${length} bytes`)
      await socket.close()
    }
    await expectUnharmed(t, server)
  })
})
