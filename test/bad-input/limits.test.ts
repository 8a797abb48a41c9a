import t from 'tap'
import { until } from '../support/wait.js'
import { CONNECTIONS } from '../support/transports.js'
import { endSession, openSession, post } from '../support/http-requests.js'
import { call, callTool, initialize, nested, notification, type Era, type Input } from '../support/messages.js'
import { answered, except, only, tryRows, unreadable, type Expected, type Row } from '../support/rows.js'
import { expectUnharmed, startServer, type Server } from '../support/server.js'
import { summarise, summariseReply } from '../support/summary.js'

const SMALL = { maxDepth: 8, maxKeys: 40, maxValues: 60, maxId: 16, maxBatch: 3, maxUri: 32, maxInFlight: 2 }
const BATCHING = ['session 2025-03-26', 'message', 'sse', 'websocket 2025-03-26', 'stdio 2025-03-26'] as const

/** How many members the objects of a call have without the one that is named. */
const MEMBERS = { legacy: 4, modern: 7 }
const withMembers =
  (sum: number): Input =>
    (era: Era) =>
      call('tools/list', { x: members(sum - MEMBERS[era] - 1) })(era)
const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, 1]))
/** How many values a call has without the elements of the one that is named. */
const VALUES = { legacy: 6, modern: 9 }
const withValues =
  (sum: number): Input =>
    (era: Era) =>
      call('tools/list', { x: new Array(sum - VALUES[era]).fill(1) })(era)
/** The member is two levels down in its message. */
const deep =
  (depth: number): Input =>
    (era: Era) =>
      call('tools/list', { x: 'PLACE' })(era).replace('"PLACE"', nested(depth - 2))
const named = (length: number): string => `${'i'.repeat(length)}`
const uriOf = (length: number): Input => call('resources/read', { uri: 'test://item/'.padEnd(length, 'x') })
const batchOf = (count: number): string =>
  `[${Array.from({ length: count }, (_, id) => call('ping', {}, id)('legacy')).join(',')}]`
const token =
  (length: number): Input =>
    (era: Era) =>
      call('tools/list')(era).replace(
        era === 'modern' ? '"_meta":{' : '"params":{',
      `${era === 'modern' ? '' : '"params":{'}"_meta":{"progressToken":"${'p'.repeat(length)}"${era === 'modern' ? ',' : '}'}`
      )
const fine = answered('ok id 7')

const rows: Row[] = [
  { row: 'A23', title: '8 levels where 8 are allowed', input: deep(8), expect: fine },
  { row: 'A23', title: '9 levels', input: deep(9), expect: unreadable(-32600, '7') },
  { row: 'maxKeys', title: '40 members where 40 are allowed', input: withMembers(40), expect: fine },
  { row: 'maxKeys', title: '41 members', input: withMembers(41), expect: unreadable(-32600, '7') },
  { row: 'maxValues', title: '60 values where 60 are allowed', input: withValues(60), expect: fine },
  { row: 'maxValues', title: '61 values', input: withValues(61), expect: unreadable(-32600, '7') },
  {
    row: 'maxId',
    title: 'an id of 16 characters',
    input: call('tools/list', {}, named(16)),
    expect: answered(`ok id "${named(16)}"`)
  },
  {
    row: 'maxId',
    title: 'an id of 17 characters',
    input: call('tools/list', {}, named(17)),
    expect: unreadable(-32600)
  },
  { row: 'maxId', title: 'a progress token of 16 characters', input: token(16), expect: fine },
  {
    row: 'maxId',
    title: 'a progress token of 17 characters',
    input: token(17),
    expect: answered('-32602 id 7', '-32602 id 7', 400)
  },
  { row: 'D25', title: 'a URI of 32 characters', input: uriOf(32), expect: fine },
  { row: 'D25', title: 'a URI of 33 characters', input: uriOf(33), expect: answered('-32002 id 7', '-32602 id 7') },
  { row: 'C7', title: 'a batch of 3', input: batchOf(3), expect: batching('[ok id 0, ok id 1, ok id 2]') },
  {
    row: 'C7',
    title: 'a batch of 4',
    input: batchOf(4),
    expect: { ...batching('-32600 id null', 400), sse: '400 -32600 id null' }
  }
]

const usual: Row[] = [
  { row: 'maxKeys', title: '10,000 members', input: withMembers(10_000), expect: fine },
  { row: 'maxKeys', title: '10,001 members', input: withMembers(10_001), expect: unreadable(-32600, '7') },
  { row: 'maxValues', title: '100,000 values', input: withValues(100_000), expect: fine },
  { row: 'maxValues', title: '100,001 values', input: withValues(100_001), expect: unreadable(-32600, '7') },
  {
    row: 'maxId',
    title: 'an id of 1,024 characters',
    input: call('tools/list', {}, named(1_024)),
    expect: answered(`ok id "${named(1_024)}"`)
  },
  {
    row: 'maxId',
    title: 'an id of 1,025 characters',
    input: call('tools/list', {}, named(1_025)),
    expect: unreadable(-32600)
  },
  { row: 'D25', title: 'a URI of 2,048 characters', input: uriOf(2_048), expect: fine },
  {
    row: 'D25',
    title: 'a URI of 2,049 characters',
    input: uriOf(2_049),
    expect: answered('-32002 id 7', '-32602 id 7')
  },
  {
    row: 'D25',
    title: 'a subscription to a URI of 2,049 characters',
    input: call('resources/subscribe', { uri: 'test://item/'.padEnd(2_049, 'x') }),
    expect: only(answered('-32002 id 7'), 'session', 'message', 'sse', 'websocket', 'stdio')
  },
  {
    row: 'D25',
    title: 'a URI of a megabyte',
    input: uriOf(1_000_000),
    expect: except(answered('-32002 id 7', '-32602 id 7'), 'stateless')
  }
]

t.test('limits that were chosen hold on every transport, exactly', async t => {
  const server = await startServer(t, { limits: SMALL })
  await tryRows(t, server, rows)

  for (const [name, era, open] of CONNECTIONS) {
    await t.test(`${name}: one call over the limit is refused, until another ends`, async t => {
      const connection = await open(server)
      for (const id of [1, 2]) await connection.write(callTool('hang', {}, id)(era))
      await until(() => server.seen.hanging === 2, 'two calls')
      await connection.write(callTool('count', {}, 3)(era))
      t.equal(summarise(await connection.inbox.next()), '-32603 id 3')
      await connection.write(notification('notifications/cancelled', { requestId: 1 }))
      await until(() => server.seen.aborted === 1, 'the end of one')
      await connection.write(callTool('echo', { text: 'x' }, 4)(era))
      t.equal(summarise(await connection.inbox.next()), 'ok id 4')
      await connection.write(notification('notifications/cancelled', { requestId: 2 }))
      await connection.close()
      await rested(server)
      await expectUnharmed(t, server)
    })
  }

  await t.test('a session: one call over the limit is refused with 429, until another ends', async t => {
    const id = await openSession(server.port, initialize())
    const send = async (body: string) => await post(server.port, '/mcp', body, [['Mcp-Session-Id', id]])
    const waiting = [1, 2].map(async id => await send(callTool('hang', {}, id)('legacy')))
    await until(() => server.seen.hanging === 2, 'two calls')
    const refused = await send(callTool('count', {}, 3)('legacy'))
    t.strictSame([summariseReply(refused), refused.headers.get('retry-after')], ['429 -32603 id 3', '1'])
    await send(notification('notifications/cancelled', { requestId: 1 }))
    t.equal(summariseReply(await send(callTool('echo', { text: 'x' }, 4)('legacy'))), '200 ok id 4')
    await send(notification('notifications/cancelled', { requestId: 2 }))
    await Promise.all(waiting)
    await endSession(server.port, id)
    await rested(server)
    await expectUnharmed(t, server)
  })
  t.equal(server.seen.counted, 0, 'no refused call was run')
})

t.test('default limits hold on every transport, exactly', async t => {
  await tryRows(t, await startServer(t), usual)
})

function batching (answer: string, status = 200): Expected {
  return Object.fromEntries(
    BATCHING.map(name => [
      name,
      name === 'sse' ? `202 ${answer}` : /^(session|message)/.test(name) ? `${status} ${answer}` : answer
    ])
  )
}

async function rested ({ seen }: Server): Promise<void> {
  await until(() => seen.aborted === seen.hanging, 'the end of the calls')
  Object.assign(seen, { hanging: 0, aborted: 0 })
}
