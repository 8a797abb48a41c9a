import t from 'tap'
import { probe } from '../support/transports.js'
import { postModern } from '../support/http-requests.js'
import { call, callTool, modernMeta } from '../support/messages.js'
import { answered, brokenArguments, except, only, tryRows, variants, type Row } from '../support/rows.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { socketConnection, stdioConnection } from '../support/connections.js'

type Json = Record<string, unknown>

const refused = answered('-32602 id 7')
const unknownResource = answered('-32002 id 7', '-32602 id 7')
const LEGACY = ['session', 'message', 'sse', 'websocket', 'stdio'] as const
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  ' echo',
  'ECHO',
  'a\0b',
  'écho',
  'x'.repeat(1_000)
]
const URIS = [
  'test://nothing',
  'not a uri',
  '',
  '://',
  'test://item/',
  'test://item/%zz',
  'test://item/a/b',
  'test://item/missing',
  'file:///etc/passwd',
  'file:///allowed/../etc/passwd',
  'file://evil/x',
  'test://text/../text',
  'TEST://text',
  'test://text#x',
  '__proto__',
  'test://item/../text',
  'test://item/\0/'
]
const BAD_ARGUMENTS: Array<[name: string, args: Json]> = [
  ['echo', {}],
  ['echo', { text: 5 }],
  ['echo', { text: null }],
  ['echo', { text: 'x', more: 1 }],
  ['calculate', { operation: 'constructor', a: 1, b: 1 }],
  ['calculate', { operation: 'process.exit()', a: 1, b: 1 }],
  ['calculate', { operation: 'add', a: '9**9**9', b: 1 }],
  ['calculate', { operation: `${'('.repeat(100_000)}`, a: 1, b: 1 }]
]

const rows: Row[] = [
  ...variants(
    NAMES.map(name => ({
      row: name === '__proto__' ? 'D18' : 'D15',
      title: `the unknown tool ${title(name)}`,
      input: callTool(name),
      expect: refused
    }))
  ),
  { row: 'D16', title: 'tools/call without a name', input: call('tools/call', { arguments: {} }), expect: refused },
  ...variants(
    [5, null, ['echo'], { name: 'echo' }].map(name => ({
      row: 'D16',
      title: `the tool name ${JSON.stringify(name)}`,
      input: call('tools/call', { name }),
      expect: refused
    }))
  ),
  ...variants(
    [[], 'x', 5, null].map(args => ({
      row: 'D17',
      title: `arguments that are ${JSON.stringify(args)}`,
      input: call('tools/call', { name: 'echo', arguments: args }),
      expect: refused
    }))
  ),
  ...variants(
    BAD_ARGUMENTS.map(([name, args]) => ({
      row: name === 'echo' ? 'D19' : 'D34',
      title: `${name} with ${title(JSON.stringify(args))}`,
      input: callTool(name, args),
      expect: brokenArguments()
    }))
  ),
  {
    row: 'D34',
    title: 'a division by zero',
    input: callTool('calculate', { operation: 'divide', a: 1, b: 0 }),
    expect: answered('isError id 7')
  },
  {
    row: 'D34',
    title: 'a result that does not fit',
    input: callTool('calculate', { operation: 'multiply', a: 1e308, b: 1e308 }),
    expect: answered('isError id 7')
  },
  ...variants(
    URIS.map((uri, index) => ({
      row: index === 0 ? 'D20' : 'D21–D23',
      title: `the resource ${title(uri)}`,
      input: call('resources/read', { uri }),
      expect: unknownResource
    }))
  ),
  {
    row: 'D25',
    title: 'a resource whose URI has a megabyte',
    input: call('resources/read', { uri: `test://item/${'x'.repeat(1_000_000)}` }),
    expect: except(unknownResource, 'stateless')
  },
  ...variants(
    [5, null, ['test://text'], undefined].map(uri => ({
      row: 'D21',
      title: `the resource ${JSON.stringify(uri)}`,
      input: call('resources/read', { uri }),
      expect: refused
    }))
  ),
  ...variants(
    ['test://nothing', '__proto__', ''].map(uri => ({
      row: 'D20',
      title: `a subscription to ${title(uri)}`,
      input: call('resources/subscribe', { uri }),
      expect: only(unknownResource, ...LEGACY)
    }))
  ),
  ...variants(
    ['banana', '', '__proto__', 'x'.repeat(100_000), 5, null, {}].map(cursor => ({
      row: 'D26',
      title: `the cursor ${title(JSON.stringify(cursor))}`,
      input: call('tools/list', { cursor }),
      expect: refused
    }))
  ),
  ...variants(
    ['resources/list', 'resources/templates/list', 'prompts/list'].map(method => ({
      row: 'D26',
      title: `${method} with a cursor that was never given`,
      input: call(method, { cursor: 'banana' }),
      expect: refused
    }))
  ),
  ...variants(
    ['loud', 'INFO', '', '__proto__', 3, null, undefined].map(level => ({
      row: 'D27',
      title: `the log level ${JSON.stringify(level)}`,
      input: call('logging/setLevel', { level }),
      expect: only(refused, ...LEGACY)
    }))
  ),
  {
    row: 'D27',
    title: 'an unknown log level, in _meta',
    input: call('tools/list', { _meta: { ...modernMeta(), 'io.modelcontextprotocol/logLevel': 'loud' } }),
    expect: { stateless: '400 -32602 id 7', 'websocket 2026': '-32602 id 7', 'stdio 2026': '-32602 id 7' }
  },
  ...variants(
    NAMES.map(name => ({
      row: 'D28',
      title: `the unknown prompt ${title(name)}`,
      input: call('prompts/get', { name }),
      expect: refused
    }))
  ),
  ...variants(
    [{}, { who: 5 }, [], { Who: 'Ada' }].map(args => ({
      row: 'D28',
      title: `a prompt with ${JSON.stringify(args)}`,
      input: call('prompts/get', { name: 'introduce', arguments: args }),
      expect: refused
    }))
  ),
  ...variants(
    ['__proto__', 'constructor', 'toString', 'nobody'].flatMap(name => [
      {
        row: 'D28',
        title: `completion for the argument ${name}`,
        input: completion({ type: 'ref/prompt', name: 'introduce' }, name),
        expect: refused
      },
      {
        row: 'D28',
        title: `completion for the prompt ${name}`,
        input: completion({ type: 'ref/prompt', name }, 'who'),
        expect: refused
      },
      {
        row: 'D28',
        title: `completion for the template ${name}`,
        input: completion({ type: 'ref/resource', uri: name }, 'id'),
        expect: refused
      }
    ])
  ),
  ...variants(
    ([
      ['tasks/get', '-32602 id 7', '-32021 id 7', 400],
      ['tasks/result', '-32602 id 7', '-32601 id 7', 404],
      ['tasks/list', '-32601 id 7', '-32601 id 7', 404],
      ['tasks/cancel', '-32602 id 7', '-32021 id 7', 400],
      ['tasks/update', '-32601 id 7', '-32602 id 7', 200]
    ] as const).map(([method, legacy, modern, status]) => ({
      row: 'D31',
      title: `${method} of a task that is not there`,
      input: call(method, { taskId: 'x' }),
      // Without a handshake, these two speak the oldest revision, which has no tasks.
      expect: { ...answered(legacy, modern, 200, status), ...only(answered('-32601 id 7'), 'message', 'sse') }
    }))
  ),
  ...variants(
    [
      {},
      { notifications: [] },
      { notifications: { toolsListChanged: 'yes' } },
      { notifications: { resourceSubscriptions: [5] } }
    ].map(params => ({
      row: 'D32',
      title: `subscriptions/listen with ${JSON.stringify(params)}`,
      input: call('subscriptions/listen', params),
      expect: only(refused, 'stateless', 'websocket 2026', 'stdio 2026')
    }))
  )
]

t.test('every method refuses params that are not right', async t => {
  const server = await startServer(t)
  await tryRows(t, server, rows)

  for (const open of [socketConnection, stdioConnection]) {
    await t.test(`${open.name}: D32, unknown kinds are left out of the acknowledgement`, async t => {
      const connection = await open(server)
      for (const [id, notifications] of [{}, { moonPhase: true, toString: true }].entries()) {
        await connection.write(call('subscriptions/listen', { notifications }, id)('modern'))
        const { method, params } = await connection.inbox.next() as { method: string, params: Json }
        t.strictSame([method, params.notifications], ['notifications/subscriptions/acknowledged', {}])
      }
      t.strictSame(await probe(connection, 'modern'), [])
      await connection.close()
      await expectUnharmed(t, server)
    })
  }

  await t.test('D33: a request state that is not the one we gave is refused', async t => {
    const params = { name: 'ask_name', arguments: {}, _meta: modernMeta(undefined, { elicitation: {} }) }
    const retry = async (more: object) => {
      const { status, body } = await postModern(server.port, call('tools/call', { ...params, ...more })('modern'))
      const { error, result } = JSON.parse(body) as { error?: { code: number }, result?: Json }
      return `${status} ${error?.code ?? String(result?.resultType)}`
    }
    const {
      result: { requestState }
    } = JSON.parse((await postModern(server.port, call('tools/call', params)('modern'))).body) as {
      result: { requestState: string }
    }
    const inputResponses = { user_name: { action: 'accept', content: { name: 'Ada' } } }
    t.equal(await retry({ requestState, inputResponses }), '200 complete', 'the true one is good')
    for (const forged of [
      flip(requestState, 0),
      flip(requestState, 20),
      flip(requestState, requestState.length - 2),
      requestState.slice(1),
      `${requestState}A`,
      `${requestState}=`,
      '',
      'x',
      5,
      null,
      {}
    ]) {
      t.equal(await retry({ requestState: forged, inputResponses }), '200 -32602', title(JSON.stringify(forged)))
    }
    t.equal(
      await retry({ requestState, arguments: { other: 1 }, inputResponses }),
      '200 -32602',
      'made for other arguments'
    )
    t.equal(await retry({ requestState: expired(server.app, requestState), inputResponses }), '200 -32602', 'too old')
    for (const wrong of [[], 'x', 5, null]) {
      t.equal(await retry({ inputResponses: wrong }), '200 -32602', `answers that are ${JSON.stringify(wrong)}`)
    }
    await expectUnharmed(t, server)
  })
})

function completion (ref: object, name: string): Row['input'] {
  return call('completion/complete', { ref, argument: { name, value: '' } })
}

function expired (
  {
    mcp: {
      dispatcher: { sealer }
    }
  }: Awaited<ReturnType<typeof startServer>>['app'],
  state: string
): string {
  return sealer.seal('requestState', { ...(sealer.open('requestState', state) as object), expires: Date.now() - 1 })
}

function flip (text: string, at: number): string {
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
}

function title (text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
