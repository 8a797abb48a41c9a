import t from 'tap'
import { until } from '../support/wait.js'
import { openEvents } from '../support/event-reader.js'
import { endSession, openSession, post } from '../support/http-requests.js'
import { call, initialize, MODERN, NEWEST } from '../support/messages.js'
import { exchange, request, statusOf, type Head } from '../support/http-client.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { summariseReply } from '../support/summary.js'

const list = call('tools/list')('legacy')
const session = (id: string): [string, string] => ['Mcp-Session-Id', id]
const version = (value: string): [string, string] => ['MCP-Protocol-Version', value]
const STRANGERS = [
  'x',
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'x'.repeat(5_000),
  '../../etc/passwd',
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
]

t.test('a session is found by its exact id alone', async t => {
  const server = await startServer(t)
  const { port, app } = server
  const send = async (head: Head, body = list) => (await post(port, '/mcp', body, head)).status
  const visit = async (method: string, head: Head) =>
    await statusOf(port, request(method, '/mcp', [['Host', 'localhost'], ['Accept', 'text/event-stream'], ...head]))

  await t.test('F1: no session id after initialize, though there is only one session', async t => {
    const id = await openSession(port, initialize())
    t.equal(summariseReply(await post(port, '/mcp', list)), '400 -32600 id 7')
    t.equal(await visit('GET', []), 400)
    t.equal(await visit('DELETE', []), 400, 'F14')
    t.equal((await endSession(port, id)).status, 200)
    await expectUnharmed(t, server)
  })

  await t.test('F2: an unknown session', async t => {
    for (const id of STRANGERS) {
      for (const name of ['Mcp-Session-Id', 'X-Session-ID']) {
        t.equal(await send([[name, id]]), 404, `POST with ${name} ${id.slice(0, 40)}`)
        t.equal(await visit('GET', [[name, id]]), 404, `GET with ${name} ${id.slice(0, 40)}`)
        t.equal(await visit('DELETE', [[name, id]]), 404, `DELETE with ${name} ${id.slice(0, 40)}`)
      }
    }
    t.equal(await send([session('x')], initialize()), 404, 'an initialize that names a session nobody knows')
    await expectUnharmed(t, server)
  })

  await t.test('F2: a session that was idle for too long is not known any more', async t => {
    const other = await startServer(t, { sessionIdle: 1 })
    const id = await openSession(other.port, initialize())
    await until(() => other.app.mcp.sessions.size === 0, 'the end of the session')
    t.equal((await post(other.port, '/mcp', list, [session(id)])).status, 404)
    await expectUnharmed(t, other)
  })

  await t.test('a session named twice, or two sessions named at once', async t => {
    const [one, two] = [await openSession(port, initialize()), await openSession(port, initialize())]
    t.match(await send([session(one), session(one)]), /^4/)
    t.match(await send([session(one), session(two)]), /^4/)
    t.equal(await send([session(one), ['X-Session-ID', two]]), 400)
    t.equal(await send([session(one), ['X-Session-ID', one]]), 200)
    t.equal(app.mcp.sessions.size, 2)
    for (const id of [one, two]) await endSession(port, id)
    await expectUnharmed(t, server)
  })

  await t.test('F5 to F7: the version of a request is the negotiated one, or absent', async t => {
    const id = await openSession(port, initialize('2025-06-18'))
    for (const value of ['banana', '', '2099-01-01', '__proto__', NEWEST, '2025-03-26', '2025-06-18, 2025-06-18']) {
      t.equal(await send([session(id), version(value)]), 400, `POST as ${value}`)
      t.equal(await visit('GET', [session(id), version(value)]), 400, `GET as ${value}`)
    }
    t.equal(await send([session(id), version('2025-06-18')]), 200)
    t.equal(await send([session(id)]), 200, 'F7')
    await endSession(port, id)
    await expectUnharmed(t, server)
  })

  await t.test('F5 and F6: a session is not ended in a version that was not agreed', async t => {
    for (const value of ['banana', NEWEST]) {
      const id = await openSession(port, initialize('2025-06-18'))
      t.equal(await visit('DELETE', [session(id), version(value)]), 400, value)
      t.equal(await send([session(id)]), 200, 'it is still there')
      await endSession(port, id)
    }
    await expectUnharmed(t, server)
  })

  await t.test('F8: of many GET streams the newest gets the messages, none is refused, and four stay open', async t => {
    const id = await openSession(port, initialize())
    const received: string[][] = []
    const streams = []
    for (let index = 0; index < 6; index++) {
      streams.push(
        await openEvents(port, '/mcp', { 'mcp-session-id': id }, data => {
          if (data !== '') (received[index] ??= []).push(data)
        })
      )
    }
    t.strictSame(streams.map(({ status }) => status), [200, 200, 200, 200, 200, 200])
    await until(() => app.mcp.connections.replies.size === 4, 'the end of the oldest two')
    app.mcp.tools.remove('refuse')
    await until(
      () => received[5]?.some(data => data.includes('notifications/tools/list_changed')) === true,
      'a notification on the newest stream'
    )
    t.strictSame(Object.keys(received), ['5'])
    for (const stream of streams.reverse()) await stream.close()
    await until(() => app.mcp.connections.replies.size === 0, 'the end of all streams')
    await endSession(port, id)
    await expectUnharmed(t, server)
  })

  await t.test('a Last-Event-ID that was never sent', async t => {
    const id = await openSession(port, initialize())
    for (const value of [
      'banana',
      '',
      '0-99999',
      '9-0',
      '-1-0',
      '0--1',
      '__proto__',
      '0-1e3',
      '0-9007199254740993',
      '1'.repeat(4_000)
    ]) {
      t.match(await visit('GET', [session(id), ['Last-Event-ID', value]]), /^4/, value.slice(0, 40))
    }
    t.equal(await send([session(id)]), 200)
    await endSession(port, id)
    await expectUnharmed(t, server)
  })

  await t.test('F12 and F13: a session that was ended is not known any more', async t => {
    const id = await openSession(port, initialize())
    t.equal((await endSession(port, id)).status, 200)
    t.equal((await endSession(port, id)).status, 404)
    t.equal(await send([session(id)]), 404)
    t.equal(await visit('GET', [session(id)]), 404)
    await expectUnharmed(t, server)
  })

  await t.test('G16 and G17: the stateless era knows no sessions', async t => {
    const body = call('tools/list')('modern')
    const { status, headers } = await post(port, '/mcp', body, [
      version(MODERN),
      ['Mcp-Method', 'tools/list'],
      session('x'),
      ['X-Session-ID', 'y'],
      ['Last-Event-ID', '0-1']
    ])
    t.strictSame([status, headers.has('mcp-session-id'), headers.has('x-session-id')], [200, false, false])
    for (const method of ['GET', 'DELETE']) {
      const reply = await exchange(
        port,
        request(method, '/mcp', [['Host', 'localhost'], ['Accept', 'text/event-stream'], version(MODERN)])
      )
      t.strictSame([reply.status, reply.headers.get('allow')], [405, 'POST'])
    }
    t.equal(app.mcp.sessions.size, 0)
    await expectUnharmed(t, server)
  })
})
