import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../support/wait.js'
import { performHandshake, CONNECTIONS } from '../support/transports.js'
import { endSession, openSession, post, postHead, postModern } from '../support/http-requests.js'
import { call, callTool, initialize, notification } from '../support/messages.js'
import { exchange, request } from '../support/http-client.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'
import { summarise, summariseReply } from '../support/summary.js'
import { socketConnection } from '../support/connections.js'

const KILO = 1_024
/** A call that waits until it is cancelled, and holds so many bytes. */
const holding = (bytes: number, id: unknown) => call('tools/call', { name: 'hang', text: 'x'.repeat(bytes) }, id)
const cancel = (id: number) => notification('notifications/cancelled', { requestId: id })

t.test('the calls of one client hold so many bytes and no more', async t => {
  const server = await startServer(t, { limits: { maxBytesInFlight: 100 * KILO } })

  for (const [name, era, open] of CONNECTIONS) {
    await t.test(`${name}: more is refused, a ping is answered, and a finished call frees its share`, async t => {
      const connection = await open(server)
      await connection.write(holding(80 * KILO, 1)(era))
      await until(() => server.seen.hanging === 1, 'a call')
      await connection.write(callTool('echo', { text: 'x'.repeat(40 * KILO) }, 2)(era))
      t.equal(summarise(await connection.inbox.next()), '-32603 id 2')
      await connection.write(callTool('echo', { text: 'x' }, 3)(era))
      t.equal(summarise(await connection.inbox.next()), 'ok id 3')
      await connection.write(cancel(1))
      await until(() => server.seen.aborted === 1, 'its end')
      await connection.write(callTool('echo', { text: 'x'.repeat(40 * KILO) }, 4)(era))
      t.equal(summarise(await connection.inbox.next()), 'ok id 4')
      await connection.close()
      await rested(t, server)
    })
  }

  await t.test('a session: the same with 429', async t => {
    const id = await openSession(server.port, initialize())
    const send = async (body: string) => await post(server.port, '/mcp', body, [['Mcp-Session-Id', id]])
    const waiting = send(holding(80 * KILO, 1)('legacy'))
    await until(() => server.seen.hanging === 1, 'a call')
    const refused = await send(callTool('echo', { text: 'x'.repeat(40 * KILO) }, 2)('legacy'))
    t.strictSame([summariseReply(refused), refused.headers.get('retry-after')], ['429 -32603 id 2', '1'])
    t.match(refused.body, /maxBytesInFlight/)
    t.equal(summariseReply(await send(call('ping', { x: 'x'.repeat(40 * KILO) }, 3)('legacy'))), '200 ok id 3')
    await send(cancel(1))
    await waiting
    await endSession(server.port, id)
    await rested(t, server)
  })

  await t.test('a single call may be as large as the largest message', async t => {
    t.equal(
      summariseReply(await post(server.port, '/message', callTool('echo', { text: 'x'.repeat(300 * KILO) })('legacy'))),
      '200 ok id 7'
    )
    await rested(t, server)
  })
})

t.test('the calls of all clients together have a limit, too, over any number of connections', async t => {
  const server = await startServer(t, { limits: { maxAllBytesInFlight: 200 * KILO } })
  const { port } = server
  const connections = await Promise.all([1, 2].map(async () => await performHandshake(await socketConnection(server))))
  for (const connection of connections) await connection.write(holding(90 * KILO, 1)('legacy'))
  await until(() => server.seen.hanging === 2, 'two calls')

  const large = { text: 'x'.repeat(30 * KILO) }
  for (const reply of [
    await post(port, '/message', callTool('echo', large)('legacy')),
    await postModern(port, callTool('echo', large)('modern'))
  ]) {
    t.strictSame([summariseReply(reply), reply.headers.get('retry-after')], ['503 -32603 id 7', '1'])
    t.match(reply.body, /maxAllBytesInFlight/)
  }
  t.equal(
    summariseReply(await post(port, '/message', callTool('echo', { text: 'x' })('legacy'))),
    '200 ok id 7',
    'small calls pass'
  )
  for (const connection of connections) await connection.close()
  await rested(t, server)
  t.equal(
    summariseReply(await post(port, '/message', callTool('echo', large)('legacy'))),
    '200 ok id 7',
    'what is over is held no more'
  )
})

t.test('bodies count that are not complete, and are let go with their connection', async t => {
  const server = await startServer(t, { limits: { maxAllBytesInFlight: 200 * KILO } })
  const head = request('POST', '/message', postHead(server.port, [['Content-Length', String(400 * KILO)]]))
  const slow = connect(server.port, '127.0.0.1').on('error', () => {})
  slow.write(Buffer.concat([head, Buffer.alloc(180 * KILO, 'x')]))
  await until(() => server.app.mcp.dispatcher.byteBudget.bytes >= 180 * KILO, 'half a body')

  const refused = await post(server.port, '/message', callTool('echo', { text: 'x'.repeat(150 * KILO) })('legacy'))
  t.strictSame([summariseReply(refused), refused.headers.get('retry-after')], ['503 -32603 id null', '1'])
  slow.destroy()
  await rested(t, server)
  t.equal(
    summariseReply(await post(server.port, '/message', callTool('echo', { text: 'x'.repeat(150 * KILO) })('legacy'))),
    '200 ok id 7'
  )
})

t.test('a body in very many tiny chunks is refused, and its connection closed', async t => {
  const server = await startServer(t)
  const head = request('POST', '/message', postHead(server.port, [['Transfer-Encoding', 'chunked']]))
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', chunk => { received += chunk.toString() })
  socket.write(head)
  for (let sent = 0; sent < 20 && !socket.destroyed; sent++) {
    await new Promise(resolve => socket.write('1\r\nx\r\n'.repeat(10_000), resolve))
  }
  await until(() => socket.destroyed, 'the end of the connection')
  if (received !== '') t.match(received, /^HTTP\/1\.1 400 [^]*too many small chunks/)
  await rested(t, server)
})

t.test('a body in many small chunks of an encoder that writes as it goes is read', async t => {
  const server = await startServer(t)
  const text = callTool('echo', { text: 'x'.repeat(50_000) })('legacy')
  const chunks = text.match(/[^]{1,5}/g) ?? []
  const body = chunks.map(chunk => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
  t.equal(
    summariseReply(
      await exchange(
        server.port,
        request('POST', '/message', postHead(server.port, [['Transfer-Encoding', 'chunked']])),
        `${body}0\r\n\r\n`
      )
    ),
    '200 ok id 7'
  )
})

async function rested (t: Test, server: Server): Promise<void> {
  await until(() => server.app.mcp.dispatcher.byteBudget.bytes === 0, 'the end of all calls')
  Object.assign(server.seen, { hanging: 0, aborted: 0 })
  await expectUnharmed(t, server)
}
