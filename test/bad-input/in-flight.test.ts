import t from 'tap'
import { until } from '../support/wait.js'
import { performHandshake, probe, CONNECTIONS } from '../support/transports.js'
import { endSession, openSession, post, postModern } from '../support/http-requests.js'
import { call, callTool, initialize, NEWEST } from '../support/messages.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'
import { messagesOf } from '../support/event-reader.js'
import { summarise, summariseReply } from '../support/summary.js'
import { socketConnection, stdioConnection, type Connection } from '../support/connections.js'

type Json = Record<string, unknown>

const slow = (id: unknown, delay = 30) => callTool('slow', { steps: 1, delay }, id)

const badAnswers: Array<[what: string, members: Json]> = [
  ['a result that is null', { result: null }],
  ['a result that is text', { result: 'Ada' }],
  ['an unknown action', { result: { action: 'perhaps' } }],
  ['content that breaks the form', { result: { action: 'accept', content: { name: 5 } } }],
  ['an error', { error: { code: -1, message: 'no' } }]
]

t.test('ids keep requests apart that are under way at once', async t => {
  const server = await startServer(t)

  for (const [name, era, open] of CONNECTIONS) {
    await t.test(`${name}: B11, 1 and "1" and 0 and "" are four calls`, async t => {
      const connection = await open(server)
      for (const id of [1, '1', 0, '']) await connection.write(slow(id)(era))
      const received = [
        await nextSummary(connection),
        await nextSummary(connection),
        await nextSummary(connection),
        await nextSummary(connection)
      ]
      t.strictSame(received.sort(), ['ok id ""', 'ok id "1"', 'ok id 0', 'ok id 1'])
      await connection.close()
      await expectUnharmed(t, server)
    })

    await t.test(`${name}: B13, an id still in flight is refused and its call goes on`, async t => {
      const connection = await open(server)
      // Each message of HTTP+SSE is a request of its own, which takes a while on a busy machine.
      await connection.write(slow(7, name === 'sse' ? 1_000 : 30)(era))
      await connection.write(callTool('count', {}, 7)(era))
      t.strictSame([await nextSummary(connection), await nextSummary(connection)], ['-32600 id 7', 'ok id 7'])
      await connection.write(callTool('echo', { text: 'again' }, 7)(era))
      t.equal(await nextSummary(connection), 'ok id 7', 'an id that was answered is free again')
      t.strictSame(await probe(connection, era), [])
      await connection.close()
      await expectUnharmed(t, server)
    })
  }

  await t.test('a session: B13, an id still in flight is refused and its call goes on', async t => {
    const id = await openSession(server.port, initialize())
    const send = async (body: string) => summariseReply(await post(server.port, '/mcp', body, [['Mcp-Session-Id', id]]))
    const first = send(slow(7, 150)('legacy'))
    await inFlight(server)
    t.equal(await send(callTool('count', {}, 7)('legacy')), '400 -32600 id 7')
    t.equal(await first, '200 ok id 7')
    await endSession(server.port, id)
    await expectUnharmed(t, server)
  })

  await t.test('stateless and plain POSTs: B13, each request stands for itself', async t => {
    const modern = async () => summariseReply(await postModern(server.port, slow(7)('modern')))
    const plain = async () => summariseReply(await post(server.port, '/message', slow(7)('legacy')))
    t.strictSame(await Promise.all([modern(), modern(), plain(), plain()]), new Array(4).fill('200 ok id 7'))
    await expectUnharmed(t, server)
  })

  t.equal(server.seen.counted, 0, 'no refused call was run')
})

t.test('answers that are wrong or not waited for do no harm', async t => {
  const server = await startServer(t)
  const capabilities = { elicitation: {} }

  for (const [name, open] of [['websocket', socketConnection], ['stdio', stdioConnection]] as const) {
    await t.test(`${name}: B26, a second answer to one question is ignored`, async t => {
      const connection = await performHandshake(await open(server), NEWEST, capabilities)
      await connection.write(callTool('ask_name')('legacy'))
      const { id } = await connection.inbox.next() as Json
      await connection.write(answer(id, 'Ada'))
      await connection.write(answer(id, 'Eve'))
      t.match(await connection.inbox.next(), { id: 7, result: { content: [{ text: 'Hello, Ada!' }] } })
      await connection.write(answer(id, 'Eve'))
      t.strictSame(await probe(connection, 'legacy'), [])
      await connection.close()
      await expectUnharmed(t, server)
    })

    for (const [what, bad] of badAnswers) {
      await t.test(`${name}: an answer with ${what} ends the call with an error`, async t => {
        const connection = await performHandshake(await open(server), NEWEST, capabilities)
        await connection.write(callTool('ask_name')('legacy'))
        const { id } = await connection.inbox.next() as Json
        await connection.write(JSON.stringify({ jsonrpc: '2.0', id, ...bad }))
        t.match(await nextSummary(connection), /^(isError|-32\d{3}) id 7$/)
        await connection.close()
        await expectUnharmed(t, server)
      })
    }
  }

  await t.test('a session: B26, a second answer to one question is ignored', async t => {
    const id = await openSession(server.port, initialize(NEWEST, capabilities))
    const send = async (body: string) => await post(server.port, '/mcp', body, [['Mcp-Session-Id', id]])
    const asked = send(callTool('ask_name')('legacy'))
    await inFlight(server)
    t.equal((await send(answer(1, 'Ada'))).status, 202)
    t.equal((await send(answer(1, 'Eve'))).status, 202)
    t.match(messagesOf((await asked).body), [
      { id: 1, method: 'elicitation/create' },
      { id: 7, result: { content: [{ text: 'Hello, Ada!' }] } }
    ])
    t.equal((await send(call('ping')('legacy'))).status, 200)
    await endSession(server.port, id)
    await expectUnharmed(t, server)
  })
})

function answer (id: unknown, name: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'accept', content: { name } } })
}

async function nextSummary (connection: Connection): Promise<string> {
  return summarise(await connection.inbox.next())
}

async function inFlight ({ app }: Server): Promise<void> {
  await until(() => [...app.mcp.dispatcher.lifecycle.peers].some(peer => peer.inbound.size > 0), 'a call in flight')
}
