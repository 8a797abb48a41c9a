import t from 'tap'
import { relayed } from '../../../protocol/revisions/relayed.js'
import { modern, newestStateful, oldest, revisionNamed } from '../../../protocol/revisions/table.js'
import type { Revision } from '../../../protocol/revisions/revision.js'
import { FakeUpstream } from './fake-upstream.js'
import { served, tool } from './served.js'

const STAMP = { 'io.modelcontextprotocol/serverInfo': { name: 'u', version: '1' } }
const STATELESS = {
  _meta: {
    'io.modelcontextprotocol/protocolVersion': modern.version,
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {}
  }
}
const strange = { type: 'hologram', depth: 3, _meta: { a: 1 }, inner: { unknown: true } }

t.test('blocks, members and _meta that we do not know survive', async t => {
  const result = {
    content: [strange, { type: 'text', text: 'x', extra: 1, _meta: { b: 2 } }],
    structuredContent: { a: 1 },
    isError: false,
    vendor: { deep: [1] },
    _meta: { 'x.y/z': 1 }
  }
  for (const revision of [newestStateful, modern]) t.strictSame(relayed.callResult(result, revision), result)
  t.strictSame(relayed.callResult({ ...result, structuredContent: [1] }, modern).structuredContent, [1])
})

t.test('what concerns the hop to the upstream is dropped', async t => {
  const result = { content: [], resultType: 'complete', ttlMs: 5, cacheScope: 'public', _meta: { ...STAMP, own: 1 } }
  t.strictSame(relayed.callResult(result, newestStateful), { content: [], _meta: { own: 1 } })
  t.strictSame(relayed.callResult({ ...result, _meta: STAMP }, modern), {
    content: [],
    resultType: 'complete',
    ttlMs: 5,
    cacheScope: 'public'
  })
})

t.test('an old revision gets what it can say', async t => {
  const content = [
    { type: 'audio', data: 'AA', mimeType: 'audio/wav' },
    { type: 'resource_link', uri: 'x://1', name: 'one' },
    strange,
    { type: 'resource' },
    null
  ]
  const result = relayed.callResult({ content, structuredContent: { a: 1 }, vendor: 1 }, oldest)
  const { _meta, ...withoutMeta } = strange
  t.strictSame(result, {
    vendor: 1,
    content: [
      { type: 'resource', resource: { uri: 'attachment:///audio', mimeType: 'audio/wav', blob: 'AA' } },
      { type: 'text', text: 'one: x://1' },
      withoutMeta,
      { type: 'resource' },
      null
    ]
  })
  t.strictSame(relayed.callResult({ content: [], structuredContent: { a: 1 } }, oldest), {
    content: [{ type: 'text', text: '{"a":1}' }]
  })
  t.strictSame(relayed.callResult({ content: [], structuredContent: [1] }, revisionNamed('2025-06-18') as Revision), {
    content: [{ type: 'text', text: '[1]' }]
  })
  const message = { role: 'user', content: { type: 'resource_link', uri: 'x://1', name: 'one' }, more: 1 }
  t.strictSame(relayed.promptResult({ messages: [message, 7], description: 'd' }, oldest), {
    messages: [{ role: 'user', content: { type: 'text', text: 'one: x://1' }, more: 1 }, 7],
    description: 'd'
  })
})

t.test('what was read may be kept as long as the upstream says, and never longer', async t => {
  const free = { ttlMs: Infinity, cacheScope: 'public' } as const
  const read = (hints: object, most: { ttlMs: number, cacheScope: 'public' | 'private' } = free): object =>
    relayed.readResult({ contents: [], ...hints }, modern, most)
  t.strictSame(read({ ttlMs: 500, cacheScope: 'public' }), { ttlMs: 500, cacheScope: 'public', contents: [] })
  t.strictSame(read({ ttlMs: 500, cacheScope: 'public' }, { ttlMs: 0, cacheScope: 'private' }), {
    ttlMs: 0,
    cacheScope: 'private',
    contents: []
  })
  t.strictSame(read({}), { ttlMs: 0, cacheScope: 'private', contents: [] })
  t.strictSame(relayed.readResult({ contents: [], ttlMs: 500, cacheScope: 'public' }, newestStateful, free), {
    contents: []
  })
  t.strictSame(relayed.readResult({ resultType: 'input_required', requestState: 'x' }, modern, free), {
    resultType: 'input_required',
    requestState: 'x'
  })
})

t.test('arguments and results are the upstream\'s own business, and its errors stay errors', async t => {
  const { McpError } = await import('../../../app.js')
  const wrong = { content: [{ type: 'text', text: 'x' }], structuredContent: { n: 'not a number' } }
  const upstream = new FakeUpstream('a', {
    tools: [
      tool('typed', {
        inputSchema: { type: 'object', required: ['n'] },
        outputSchema: { type: 'object', properties: { n: { type: 'number' } } }
      }),
      tool('fails')
    ],
    answers: {
      'tools/call': ({ name }) => {
        if (name === 'fails') throw new McpError(-32077, 'No such day', { day: 8 })
        return wrong
      }
    }
  })
  const { client: open, connect } = await served(t, [upstream])
  await connect(upstream)
  const client = await open()
  t.strictSame(await client.request('tools/call', { name: 'a__typed', arguments: { m: 1 } }), wrong)
  await t.rejects(client.request('tools/call', { name: 'a__fails' }), {
    code: -32077,
    message: 'No such day',
    data: { day: 8 }
  })
})

t.test('lists may be kept as long as the strictest upstream says', async t => {
  const list = (ttlMs: number, cacheScope: string): object => ({
    answers: { 'tools/list': () => ({ tools: [tool('x')], ttlMs, cacheScope }) },
    modern: true
  })
  const [a, b, c] = [
    new FakeUpstream('a', list(5_000, 'public')),
    new FakeUpstream('b', list(900, 'private')),
    new FakeUpstream('c')
  ]
  const { client: open, connect, lists } = await served(t, [a, b, c])
  const client = await open()
  await connect(a)
  t.match(await client.request('tools/list', STATELESS), { ttlMs: 0 }, 'not while some were never read')
  await connect(b, c)
  t.match(await client.request('tools/list', STATELESS), { ttlMs: 900, cacheScope: 'private' })
  t.match(await (await open({ view: 'a' })).request('tools/list', STATELESS), { ttlMs: 5_000, cacheScope: 'public' })
  const never = new FakeUpstream('never', list(0, 'public'))
  await lists.configure([a, never])
  await connect(never)
  t.match(await client.request('tools/list', STATELESS), { ttlMs: 0, cacheScope: 'public' }, '0 is passed on')
  t.match(await (await open({ view: 'a' })).request('tools/list', STATELESS), { ttlMs: 5_000 })
  await lists.configure([a])
  t.match(await client.request('tools/list', STATELESS), { ttlMs: 5_000, cacheScope: 'public' })
  const ada = await open({ identity: { principal: 'ada', scopes: 'all' } })
  t.match(
    await ada.request('tools/list', STATELESS),
    { ttlMs: 5_000, cacheScope: 'private' },
    'access may depend on the caller'
  )
  await lists.configure([])
  t.match(await client.request('tools/list', STATELESS), { ttlMs: 60_000, cacheScope: 'public' })
})
