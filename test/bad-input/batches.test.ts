import t from 'tap'
import { call, callTool, initialize, modernMeta, notification, type Input } from '../support/messages.js'
import { tryRows, type Expected, type Row } from '../support/rows.js'
import { startServer } from '../support/server.js'

const BATCHING = ['session 2025-03-26', 'message', 'sse', 'websocket 2025-03-26', 'stdio 2025-03-26'] as const
const OTHERS = [
  'session 2025-06-18',
  'session',
  'stateless',
  'websocket 2025-06-18',
  'websocket',
  'websocket 2026',
  'stdio 2025-06-18',
  'stdio',
  'stdio 2026'
] as const

const count = callTool('count', {}, 8)('legacy')
const ping = call('ping', {}, 7)('legacy')
const batch = (...items: string[]) => `[${items.join(',')}]`
const REFUSED = Object.fromEntries(OTHERS.map(name => [name, refusal(name)]))

const rows: Row[] = [
  { row: 'C1', title: 'an empty batch', input: '[]', expect: refusedBy([...BATCHING, ...OTHERS], '400') },
  served('C2', 'three numbers', '[1,2,3]', '[-32600 id null, -32600 id null, -32600 id null]'),
  served('C3', 'two good requests', batch(ping, call('tools/list', {}, 8)('legacy')), '[ok id 7, ok id 8]'),
  served('C3', 'a good request beside a broken one', batch('{"id":1}', ping), '[-32600 id 1, ok id 7]'),
  served('C3', 'a request beside a notification', batch(notification('notifications/initialized'), ping), '[ok id 7]'),
  served(
    'C3',
    'two requests with the same id in one batch',
    batch(callTool('slow', { steps: 1 })('legacy'), ping),
    '[ok id 7, -32600 id 7]'
  ),
  served(
    'C6',
    'two requests with the same id, the first of which is answered at once',
    batch(ping, callTool('count', {}, 7)('legacy')),
    '[ok id 7, -32600 id 7]'
  ),
  served(
    'C6',
    'the same id as text and as a number',
    batch(ping, call('ping', {}, '7')('legacy')),
    '[ok id 7, ok id "7"]'
  ),
  silent('C4', 'notifications only', batch(notification('notifications/initialized'), notification('x'))),
  silent(
    'C4',
    'responses only',
    batch('{"jsonrpc":"2.0","id":98,"result":{}}', '{"jsonrpc":"2.0","id":99,"result":{}}')
  ),
  served('C5', 'an initialize in a batch', batch(initialize(), ping), '[-32600 id 0, ok id 7]'),
  {
    row: 'C5',
    title: 'an initialize in a batch opens no session',
    input: batch(initialize(), ping),
    expect: { 'mcp without a session': '400 -32600 id null' }
  },
  {
    row: 'C7',
    title: '10,000 requests',
    input: batch(...new Array<string>(10_000).fill(count)),
    expect: refusedBy([...BATCHING, ...OTHERS], '400')
  },
  {
    row: 'C7',
    title: '101 requests',
    input: batch(...new Array<string>(101).fill(count)),
    expect: refusedBy([...BATCHING, ...OTHERS], '400')
  },
  {
    row: 'C8',
    title: 'a batch in a batch',
    input: batch(ping, batch(count)),
    expect: refusedBy([...BATCHING, ...OTHERS], '400')
  },
  {
    row: 'C9',
    title: 'requests mixed with responses',
    input: batch(count, '{"jsonrpc":"2.0","id":9,"result":{}}'),
    expect: { ...refusedBy(BATCHING, '202'), ...REFUSED }
  },
  served(
    'C10',
    'one item of the stateless era',
    batch(call('tools/call', { name: 'count', _meta: modernMeta() }, 8)('legacy'), ping),
    '[-32600 id 8, ok id 7]'
  )
]

t.test('batches are served where the revision has them and refused whole elsewhere', async t => {
  const server = await startServer(t)
  await tryRows(t, server, rows)
  t.equal(server.seen.counted, 0, 'no tool was run by a batch that was refused')

  await t.test('C3: a batch is refused before any part of it is run', async t => {
    await tryRows(t, server, [{ row: 'C3', title: 'two calls', input: batch(count, count), expect: REFUSED }])
    t.equal(server.seen.counted, 0)
  })
})

/** Revisions with batches answer like this; the others refuse the whole. */
function served (row: string, title: string, input: Input, answer: string): Row {
  const answers = BATCHING.map(name => [
    name,
    isPost(name) ? `200 ${answer}` : name === 'sse' ? `202 ${answer}` : answer
  ])
  return { row, title, input, expect: { ...Object.fromEntries(answers), ...REFUSED } }
}

function silent (row: string, title: string, input: Input): Row {
  const answers = BATCHING.map(name => [name, isPost(name) ? '202' : name === 'sse' ? '202 silence' : 'silence'])
  return { row, title, input, expect: { ...Object.fromEntries(answers), ...REFUSED } }
}

function refusedBy (names: ReadonlyArray<keyof Expected>, sseStatus: string): Expected {
  return Object.fromEntries(names.map(name => [name, name === 'sse' ? `${sseStatus} -32600 id null` : refusal(name)]))
}

function refusal (name: string): string {
  const id = name === 'stateless' || name.endsWith('2026') ? 'no id' : 'id null'
  return `${isPost(name) ? '400 ' : ''}-32600 ${id}`
}

function isPost (name: string): boolean {
  return name === 'message' || name === 'stateless' || name.startsWith('session')
}
