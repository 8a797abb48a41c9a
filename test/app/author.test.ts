import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { createClient, McpError, tool, ToolError, type Client } from '../../app.js'
import type { Tool } from '../../protocol/definitions/tool.js'
import { gateway } from '../support/gateway.js'
import { callTool, type Json } from '../support/modern.js'

/** What an author can do with one file, seen by a client of 2025-11-25 unless a test names another revision. */
async function client (t: Test, item: Tool, protocolVersion?: string): Promise<Client> {
  const app = await gateway(t, { plugins: [async fastify => { fastify.mcp.tools.add(item) }], http: false })
  return await createClient(app, protocolVersion === undefined ? {} : { protocolVersion })
}

const call = async ({ request }: Client, args: Json = {}): Promise<Json> =>
  await request('tools/call', { name: 'it', arguments: args })

const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

const RETURNED: Array<[what: string, value: unknown, result: Json]> = [
  ['a string', 'hello', text('hello')],
  ['an empty string', '', text('')],
  ['a number', 42, text('42')],
  ['zero', 0, text('0')],
  ['a boolean', false, text('false')],
  ['an object', { a: 1 }, { ...text('{"a":1}'), structuredContent: { a: 1 } }],
  ['a list of data', [1, 2], text('[1,2]')],
  [
    'a content block',
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }
  ],
  [
    'content blocks',
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' }
    ],
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' }
      ]
    }
  ],
  [
    'a whole result',
    { content: [{ type: 'text', text: 'a' }], isError: true, _meta: { k: 1 } },
    { content: [{ type: 'text', text: 'a' }], isError: true, _meta: { k: 1 } }
  ],
  [
    'data that only resembles a block',
    { type: 'text', size: 3 },
    { ...text('{"type":"text","size":3}'), structuredContent: { type: 'text', size: 3 } }
  ],
  [
    'data that only resembles a resource',
    { type: 'resource', id: 7 },
    { ...text('{"type":"resource","id":7}'), structuredContent: { type: 'resource', id: 7 } }
  ],
  ['what JSON turns into text', new Date(0), text('"1970-01-01T00:00:00.000Z"')],
  ['nothing', undefined, { content: [] }],
  ['null', null, { content: [] }],
  ['a promise', Promise.resolve('later'), text('later')]
]

t.test('a tool may return', async t => {
  let value: unknown
  const connected = await client(t, tool({ name: 'it', description: 'd', run: () => value as object }))
  for (const [what, returned, result] of RETURNED) {
    t.test(what, async t => {
      value = returned
      t.strictSame(await call(connected), { isError: false, ...result })
    })
  }
})

t.test('a success carries isError: false from 2025-11-25 on; earlier revisions leave it out', async t => {
  const app = await gateway(t)
  const echo = { name: 'echo', arguments: { text: 'hi' } }
  for (const protocolVersion of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    t.notOk(
      'isError' in (await (await createClient(app, { protocolVersion })).request('tools/call', echo)),
      protocolVersion
    )
  }
  t.equal(
    (await (await createClient(app, { protocolVersion: '2025-11-25' })).request('tools/call', echo))['isError'],
    false
  )
  t.equal((await callTool(app, 'echo', { text: 'hi' })).result['isError'], false)
})

t.test('a tool with an output schema gives structured content, and text made by the author', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: Type.Object({ n: Type.Number() }),
    output: Type.Object({ double: Type.Number() }),
    text: ({ double }, { n }) => `twice ${n} is ${double}`,
    run: ({ n }) => ({ double: 2 * n })
  })
  t.strictSame(await call(await client(t, item), { n: 4 }), {
    ...text('twice 4 is 8'),
    structuredContent: { double: 8 },
    isError: false
  })
})

t.test('an output schema that allows nothing to be returned still gives a valid result', async t => {
  const item = tool({ name: 'it', description: 'd', output: {}, run: () => undefined })
  const { content } = await call(await client(t, item)) as { content: Array<{ text?: unknown }> }
  t.ok(content.every(block => typeof block.text === 'string'), 'every text block has text')
})

t.test('arguments that do not fit never reach the tool', async t => {
  const item = () =>
    tool({ name: 'it', description: 'd', input: Type.Object({ n: Type.Number() }), run: () => t.fail('it ran') })
  t.match(await call(await client(t, item()), { n: 'x' }), {
    isError: true,
    content: [{ text: /arguments of it: n must be number/ }]
  })
  await t.rejects(
    client(t, item(), '2025-06-18').then(async old => await call(old, { n: 'x' })),
    { code: -32602, message: /n must be number/ }
  )
})

t.test('arguments arrive as they were sent: nothing is coerced, dropped or filled in', async t => {
  const item = tool({
    name: 'it',
    description: 'd',
    input: { type: 'object', properties: { n: { type: 'number', default: 5 } } },
    run: input => JSON.stringify(input)
  })
  t.strictSame(await call(await client(t, item), { other: '1', nested: [null] }), {
    ...text('{"other":"1","nested":[null]}'),
    isError: false
  })
})

t.test('a tool without an input schema takes no arguments', async t => {
  const item = tool({ name: 'it', description: 'd', run: () => 'ok' })
  const connected = await client(t, item)
  t.strictSame(await connected.request('tools/call', { name: 'it' }), { ...text('ok'), isError: false })
  t.match(await call(connected, { extra: 1 }), { isError: true, content: [{ text: /"extra"/ }] })
})

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']) {
  t.test(`${version}: a ToolError is an error result with its message`, async t => {
    const item = tool({ name: 'it', description: 'd', run: () => { throw new ToolError('not today') } })
    t.strictSame(await call(await client(t, item, version)), { ...text('not today'), isError: true })
  })
}

const broken = (): Tool =>
  tool({
    name: 'it',
    description: 'd',
    run: () => {
      throw new McpError(-32001, 'no clipboard', { why: 'headless' })
    }
  })

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
  t.test(`${version}: an McpError is a JSON-RPC error`, async t => {
    await t.rejects(client(t, broken(), version).then(call), {
      code: -32001,
      message: 'no clipboard',
      data: { why: 'headless' }
    })
  })
}

t.test('2025-11-25 and 2026-07-28: an McpError is a result that the model can see', async t => {
  t.strictSame(await call(await client(t, broken(), '2025-11-25')), { ...text('no clipboard'), isError: true })
  const app = await gateway(t, { plugins: [async fastify => { fastify.mcp.tools.add(broken()) }] })
  t.match(await callTool(app, 'it'), {
    status: 200,
    result: { ...text('no clipboard'), isError: true, resultType: 'complete' }
  })
})

t.test('2025-11-25: an McpError with a URL to visit first is a JSON-RPC error, with its data', async t => {
  const data = {
    elicitations: [{ mode: 'url', elicitationId: 'e', url: 'https://example.org/connect', message: 'Connect first' }]
  }
  const item = tool({ name: 'it', description: 'd', run: () => { throw new McpError(-32042, 'connect first', data) } })
  await t.rejects(client(t, item, '2025-11-25').then(call), { code: -32042, message: 'connect first', data })
})
