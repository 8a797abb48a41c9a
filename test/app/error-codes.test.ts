import t from 'tap'
import { McpError, tool } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { Speaker } from '../support/speaker.js'
import { until } from '../support/wait.js'
import type { Json } from '../support/recorder.js'

const LEGACY = '2024-11-05'

t.test('every error of a call has a code that programs can read', async t => {
  const app = await gateway(t, { callTimeout: 400 })
  const speaker = new Speaker(app, { version: LEGACY })
  const rows: Array<[code: string, method: string, params?: Json]> = [
    ['PATCHBAY_UNKNOWN_TOOL', 'tools/call', { name: 'nothing' }],
    ['PATCHBAY_WRONG_ARGUMENTS', 'tools/call', { name: 'echo', arguments: {} }],
    ['PATCHBAY_INVALID_PARAMS', 'tools/call', { name: 3 }],
    ['PATCHBAY_UNKNOWN_PROMPT', 'prompts/get', { name: 'nothing' }],
    ['PATCHBAY_UNKNOWN_RESOURCE', 'resources/read', { uri: 'test://nothing' }],
    [
      'PATCHBAY_UNKNOWN_TEMPLATE',
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'no://{x}' }, argument: { name: 'x', value: '' } }
    ],
    ['PATCHBAY_CURSOR_REFUSED', 'tools/list', { cursor: 'none of ours' }],
    ['PATCHBAY_METHOD_NOT_FOUND', 'no/such/method'],
    ['PATCHBAY_INTERNAL', 'tools/call', { name: 'boom' }],
    ['PATCHBAY_CANNOT_ASK', 'tools/call', { name: 'ask_model' }],
    ['PATCHBAY_TIMEOUT', 'tools/call', { name: 'slow', arguments: { steps: 1, delay: 600_000 } }]
  ]
  for (const [code, method, params] of rows) {
    t.equal((await speaker.request(method, params)).error.data.code, code, method)
  }
  t.match(
    (await speaker.tool('boom')).error.data,
    { code: 'PATCHBAY_INTERNAL', correlation: /./ },
    'members are added, none is replaced'
  )
})

t.test('refusals before a call is carried out have the code that HTTP has for the same cause', async t => {
  const limited = new Speaker(await gateway(t, { toolRates: { echo: 1 }, limits: { maxInFlight: 1 } }), {
    version: LEGACY
  })
  await limited.tool('echo', { text: 'a' })
  t.match((await limited.tool('echo', { text: 'b' })).error.data, {
    code: 'PATCHBAY_TOO_MANY_CALLS',
    retryAfter: Number
  })
  limited.send('tools/call', { name: 'slow', arguments: { steps: 1, delay: 600_000 } })
  t.equal((await limited.request('tools/list')).error.data.code, 'PATCHBAY_TOO_MANY_IN_FLIGHT')
})

t.test('a call that ends with the gateway says so in its code', async t => {
  const app = await gateway(t, { grace: 10 })
  const speaker = new Speaker(app, { version: LEGACY })
  const id = speaker.send('tools/call', { name: 'slow', arguments: { steps: 1, delay: 600_000 } })
  await until(() => speaker.peer.inbound.size === 1)
  await app.close()
  t.equal((await speaker.answerTo(id)).error.data.code, 'PATCHBAY_CLOSING')
})

t.test('where an error becomes a result, its code is in the result, and no structured content is made up', async t => {
  const speaker = new Speaker(await gateway(t), { version: '2025-11-25' })
  for (const [code, name, args] of [
    ['PATCHBAY_WRONG_ARGUMENTS', 'echo', {}],
    ['PATCHBAY_CANNOT_ASK', 'ask_model', {}]
  ] as const) {
    const { result } = await speaker.tool(name, args)
    t.match(result, { isError: true, _meta: { 'patchbay/error': { code } } })
    t.notOk('structuredContent' in result)
  }
  t.notOk('_meta' in (await speaker.tool('refuse')).result, 'a failure that the tool reports is its own')
  const modern = new Speaker(await gateway(t), { version: '2026-07-28' })
  t.match((await modern.tool('echo')).result._meta, {
    'patchbay/error': { code: 'PATCHBAY_WRONG_ARGUMENTS' },
    'io.modelcontextprotocol/serverInfo': {}
  })
})

t.test('an error that an author makes stays as it is', async t => {
  const app = await gateway(t)
  app.mcp.tools.add(
    tool({
      name: 'picky',
      description: 'Refuses',
      run: () => {
        throw new McpError(-32050, 'no', { code: 'MINE', why: 1 })
      }
    })
  )
  t.strictSame((await new Speaker(app, { version: LEGACY }).tool('picky')).error, {
    code: -32050,
    message: 'no',
    data: { code: 'MINE', why: 1 }
  })
  t.notOk('_meta' in (await new Speaker(app, { version: '2025-11-25' }).tool('picky')).result)
})

t.test('bytes that are no message, and requests that come too early, have codes', async t => {
  const app = await gateway(t)
  const post = async (body: string) =>
    (
      await app.inject({ method: 'POST', url: '/message', headers: { 'content-type': 'application/json' }, body })
    ).json()
  t.match(await post('{'), { error: { code: -32700, data: { code: 'PATCHBAY_PARSE_ERROR' } } })
  t.match(await post('{}'), { error: { code: -32600, data: { code: 'PATCHBAY_INVALID_REQUEST' } } })
  const nested = `${'['.repeat(65)}${']'.repeat(65)}`
  t.match(await post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${nested}}}`), {
    error: { data: { code: 'PATCHBAY_TOO_DEEP' } }
  })
})
