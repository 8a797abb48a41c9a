import t from 'tap'
import { performHandshake, probe } from '../support/transports.js'
import { endSession, openSession, post } from '../support/http-requests.js'
import { call, callTool, initialize, MODERN, modernMeta, NEWEST, notification, type Era } from '../support/messages.js'
import { answered, except, ignored, only, tryRows, type Expected, type Row } from '../support/rows.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { socketConnection, sseConnection, stdioConnection } from '../support/connections.js'

const BEFORE = [
  'mcp without a session',
  'sse before initialize',
  'websocket before initialize',
  'stdio before initialize'
] as const
const BEFORE_OK = before('200 ok id 7', 'ok id 7')
const withMeta = (meta: object) => (_era: Era) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/list', params: { _meta: meta } })
const [VERSION, CAPABILITIES] = Object.keys(modernMeta()) as [string, string]

const rows: Row[] = [
  ...['tools/list', 'resources/list', 'logging/setLevel'].map(method => ({
    row: 'D1',
    title: `${method} before initialize`,
    input: call(method),
    expect: before('400 -32600 id 7', '-32600 id 7')
  })),
  { row: 'D1', title: 'ping before initialize is answered', input: call('ping'), expect: BEFORE_OK },
  {
    row: 'D1',
    title: 'no handshake is needed on POST /message',
    input: call('tools/list'),
    expect: { message: '200 ok id 7' }
  },
  {
    row: 'D2',
    title: 'initialize twice: a connection begins anew, a session does not',
    input: initialize(NEWEST, {}, 7),
    expect: { session: '400 -32600 id 7', ...only(answered('ok id 7'), 'sse', 'websocket', 'stdio') }
  },
  ...[{}, { protocolVersion: NEWEST }, { clientInfo: {} }].map(params => ({
    row: 'D4',
    title: `initialize with nothing but ${JSON.stringify(params)}`,
    input: call('initialize', params),
    expect: { message: '200 ok id 7', ...except(BEFORE_OK, 'mcp without a session') }
  })),
  ...[{ protocolVersion: 5 }, { capabilities: 'all' }, { clientInfo: [] }].map(params => ({
    row: 'D4',
    title: `initialize with ${JSON.stringify(params)}`,
    input: call('initialize', params),
    expect: before('200 -32602 id 7', '-32602 id 7')
  })),
  {
    row: 'D5',
    title: 'no _meta in the stateless era',
    input: '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}',
    expect: { stateless: '400 -32602 id 7' }
  },
  {
    row: 'D5',
    title: 'no params in the stateless era',
    input: '{"jsonrpc":"2.0","id":7,"method":"tools/list"}',
    expect: { stateless: '400 -32602 id 7' }
  },
  {
    row: 'D5',
    title: 'no version in _meta',
    input: withMeta({ [CAPABILITIES]: {} }),
    expect: { stateless: '400 -32602 id 7' }
  },
  ...[
    { [VERSION]: MODERN },
    { [VERSION]: MODERN, [CAPABILITIES]: null },
    { [VERSION]: MODERN, [CAPABILITIES]: [] },
    { [VERSION]: 5, [CAPABILITIES]: {} }
  ].map(meta => ({
    row: 'D5',
    title: `_meta is ${JSON.stringify(meta)}`,
    input: withMeta(meta),
    expect: incomplete()
  })),
  ...['1900-01-01', NEWEST, '', '__proto__'].map(version => ({
    row: 'D6',
    title: `the version "${version}" in _meta`,
    input: withMeta(modernMeta(version)),
    expect: { 'websocket 2026': '-32022 id 7', 'stdio 2026': '-32022 id 7', message: '400 -32022 id 7' }
  })),
  {
    row: 'D7',
    title: 'a tool that needs a capability the client did not declare',
    input: callTool('ask_name'),
    expect: only(answered('-32021 id 7', '-32021 id 7', 400), 'stateless', 'websocket 2026', 'stdio 2026')
  },
  ...[
    { requestId: 999 },
    { requestId: 'nobody' },
    {},
    { requestId: {} },
    { requestId: null },
    { requestId: 0 },
    { requestId: 'probe' }
  ].map(params => ({
    row: 'D8–D12',
    title: `a cancellation with ${JSON.stringify(params)}`,
    input: notification('notifications/cancelled', params),
    expect: ignored
  }))
]

t.test('the handshake comes first, comes once in a session, and is lenient', async t => {
  const server = await startServer(t)
  await tryRows(t, server, rows)

  for (const version of ['banana', '', '2099-01-01', MODERN, '__proto__']) {
    await t.test(`D3: initialize with the version "${version}" is answered with the newest legacy one`, async t => {
      for (const path of ['/message', '/mcp']) {
        const { status, body, headers } = await post(server.port, path, initialize(version))
        t.match([status, JSON.parse(body)], [200, { result: { protocolVersion: NEWEST } }], path)
        const id = headers.get('mcp-session-id')
        if (id !== undefined) await endSession(server.port, id)
      }
      for (const open of [socketConnection, stdioConnection, sseConnection]) {
        const connection = await open(server)
        await connection.write(initialize(version))
        t.match(await connection.inbox.next(), { id: 0, result: { protocolVersion: NEWEST } }, open.name)
        await connection.close()
      }
      await expectUnharmed(t, server)
    })
  }

  await t.test('D6: the refusal of a version names those that are spoken', async t => {
    const body = withMeta(modernMeta('1900-01-01'))('modern')
    const reply = await post(server.port, '/mcp', body, [
      ['MCP-Protocol-Version', '1900-01-01'],
      ['Mcp-Method', 'tools/list']
    ])
    t.match(
      [reply.status, JSON.parse(reply.body)],
      [400, { id: 7, error: { code: -32022, data: { requested: '1900-01-01', supported: [MODERN, NEWEST] } } }]
    )
  })

  await t.test('D7: the refusal names the capability as an object', async t => {
    const connection = await socketConnection(server)
    await connection.write(callTool('ask_name')('modern'))
    t.match(await connection.inbox.next(), {
      id: 7,
      error: { code: -32021, data: { requiredCapabilities: { elicitation: Object } } }
    })
    await connection.close()
  })

  await t.test('a handshake that failed can be tried again', async t => {
    const connection = await socketConnection(server)
    await connection.write(call('initialize', { protocolVersion: 5 })('legacy'))
    t.match(await connection.inbox.next(), { error: { code: -32602 } })
    await performHandshake(connection)
    t.strictSame(await probe(connection, 'legacy'), [])
    await connection.close()
  })

  await t.test('D2: a second initialize leaves the session as it was', async t => {
    const id = await openSession(server.port, initialize('2025-06-18'))
    const send = async (body: string) => await post(server.port, '/mcp', body, [['Mcp-Session-Id', id]])
    t.equal((await send(initialize('2025-03-26', {}, 7))).status, 400)
    t.equal((await send('[]')).status, 400)
    t.equal((await send(call('tools/list')('legacy'))).status, 200)
    await endSession(server.port, id)
  })
})

function before (http: string, answer: string): Expected {
  const [post, ...connections] = BEFORE
  return {
    [post]: http,
    ...Object.fromEntries(connections.map(name => [name, name.startsWith('sse') ? `202 ${answer}` : answer]))
  }
}

function incomplete (): Expected {
  return {
    stateless: '400 -32602 id 7',
    message: '400 -32602 id 7',
    'websocket 2026': '-32602 id 7',
    'stdio 2026': '-32602 id 7'
  }
}
