import { request as httpRequest } from 'node:http'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { probe, CONNECTIONS } from '../support/transports.js'
import { takeTime, until } from '../support/wait.js'
import { endSession, mirroredHead, openSession, post } from '../support/http-requests.js'
import { call, callTool, initialize, notification } from '../support/messages.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'
import { summarise } from '../support/summary.js'
import { socketConnection, sseConnection, stdioConnection } from '../support/connections.js'

const cancel = (requestId: unknown) => notification('notifications/cancelled', { requestId, reason: 'test' })
const hang = callTool('hang')
const slow = callTool('slow', { steps: 1, delay: 60 })

let open = 0

t.test('a cancellation stops the call it names and no other', async t => {
  const server = await startServer(t)

  for (const [name, era, open] of CONNECTIONS) {
    await t.test(
      `${name}: D13 and D14, a cancelled call stops and is not answered, however often it is cancelled`,
      async t => {
        const connection = await open(server)
        await connection.write(hang(era))
        await started(server)
        for (let times = 0; times < 3; times++) await connection.write(cancel(7))
        await stopped(server)
        t.strictSame(await probe(connection, era), [])
        await connection.close()
        await expectUnharmed(t, server)
      }
    )

    await t.test(`${name}: D11, a client cannot cancel the call of another`, async t => {
      const [connection, other] = [await open(server), await open(server)]
      await connection.write(slow(era))
      await other.write(cancel(7))
      await other.write(cancel('7'))
      t.strictSame(await probe(other, era), [])
      t.equal(summarise(await connection.inbox.next()), 'ok id 7')
      await connection.close()
      await other.close()
      await expectUnharmed(t, server)
    })

    await t.test(`${name}: D12, a cancellation after the answer is ignored`, async t => {
      const connection = await open(server)
      await connection.write(callTool('echo', { text: 'x' })(era))
      t.equal(summarise(await connection.inbox.next()), 'ok id 7')
      await connection.write(cancel(7))
      t.strictSame(await probe(connection, era), [])
      await connection.close()
      await expectUnharmed(t, server)
    })
  }

  await t.test('a session: D14, a cancelled call stops and its POST ends without an answer', async t => {
    const id = await openSession(server.port, initialize())
    const send = async (body: string) => await post(server.port, '/mcp', body, [['Mcp-Session-Id', id]])
    const hanging = send(hang('legacy'))
    await started(server)
    t.equal((await send(cancel(7))).status, 202)
    t.equal((await send(cancel(7))).status, 202)
    const { status, body } = await hanging
    t.match([status, body], [/20[024]/, /^(?!.*"id":7)/])
    await stopped(server)
    await endSession(server.port, id)
    await expectUnharmed(t, server)
  })

  await t.test('a session: D14, a client that hangs up does not cancel its call', async t => {
    const id = await openSession(server.port, initialize())
    hangUp(server, hang('legacy'), [['Mcp-Session-Id', id]])
    await started(server)
    await until(() => open === 0, 'the end of the connection')
    t.equal((await post(server.port, '/mcp', call('ping', {}, 8)('legacy'), [['Mcp-Session-Id', id]])).status, 200)
    t.equal(server.seen.aborted, 0, 'the call goes on')
    t.equal((await post(server.port, '/mcp', cancel(7), [['Mcp-Session-Id', id]])).status, 202)
    await stopped(server)
    await endSession(server.port, id)
    await expectUnharmed(t, server)
  })

  await t.test('D10: a handshake cannot be cancelled', async t => {
    const slowly = async ({ mcp }: FastifyInstance) => {
      mcp.use(async (_call, next) => {
        await takeTime(20)
        return await next()
      })
    }
    const other = await startServer(t, { plugins: [slowly] })
    for (const open of [socketConnection, stdioConnection, sseConnection]) {
      const connection = await open(other)
      await connection.write(initialize())
      await connection.write(cancel(0))
      t.equal(summarise(await connection.inbox.next()), 'ok id 0', open.name)
      await connection.close()
    }
    await expectUnharmed(t, other)
  })

  await t.test('stateless: D14, a client that hangs up cancels its call', async t => {
    hangUp(server, hang('modern'), mirroredHead(hang('modern')))
    await started(server)
    await stopped(server)
    await expectUnharmed(t, server)
  })
})

/** Posts and cuts the connection as soon as the call has started. */
function hangUp (server: Server, body: string, head: Array<[string, string]>): void {
  const { port, seen } = server
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...Object.fromEntries(head)
  }
  const request = httpRequest({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers, agent: false })
  open++
  request.on('error', () => {}).on('close', () => { open-- }).end(body)
  void until(() => seen.hanging > 0, 'a start').then(() => request.destroy())
}

async function started ({ seen }: Server): Promise<void> {
  await until(() => seen.hanging > 0, 'the start of the call')
}

async function stopped ({ seen }: Server): Promise<void> {
  await until(() => seen.aborted > 0, 'the end of the call')
  Object.assign(seen, { hanging: 0, aborted: 0 })
}
