import t from 'tap'
import { createClient, type Client } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { ADA, bearer, BOB, listed } from '../../support/keys.js'
import type { Json } from '../../support/specification/message.js'
import { modern, newestLegacy } from '../../support/specification/revisions.js'
import { openFixture } from '../../upstreams/fixture/open.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { served } from '../../upstreams/lists/served.js'
import { curated, logged, names, own, refusal } from './curated.js'

const some = {
  servers: ['docs'],
  tools: ['calculate'],
  resources: ['own://*'],
  exclude: ['docs+page://secret'],
  resourcesAsTools: true
}
const scopes = { 'resources/own://text': ['own'] }
const identity = { principal: 'ada', scopes: new Set(['mcp']) }

const reading = (uri: string): Json => ({ name: 'read_resource', arguments: { uri } })

t.test('resources as tools give what the caller could read as resources, and nothing else', async t => {
  const { client } = await curated(t, { tools: some, plain: {} }, { scopes })
  const [every, few] = [await client({ view: 'tools' }), await client({ view: 'tools', identity })]
  t.strictSame(await names(every), ['calculate', 'docs__lookup', 'docs__search', 'list_resources', 'read_resource'])
  t.notOk((await names(await client({ view: 'plain' }))).includes('read_resource'))
  const uris = async (client: Client): Promise<unknown> => {
    const { resources } = (await client.call('list_resources', {})).output as { resources: Json[] }
    return resources.map(({ uri }) => uri)
  }
  t.strictSame(await uris(every), ['own://text', 'page://a'])
  t.strictSame(await uris(few), ['page://a'])
  t.match(await every.call('read_resource', { uri: 'own://text' }), { text: 'text' })
  t.match(await every.call('read_resource', { uri: 'page://a' }), { text: 'read' })
})

t.test('what a caller may not read is unknown to read_resource, byte for byte', async t => {
  const { client } = await curated(t, { tools: some }, { scopes })
  const [every, few] = [await client({ view: 'tools' }), await client({ view: 'tools', identity })]
  const unknown = await refusal(every, 'tools/call', reading('xyzzy://a'), 'xyzzy://a')
  t.strictSame(unknown, await refusal(every, 'resources/read', { uri: 'xyzzy://a' }, 'xyzzy://a'), 'as a read of it')
  for (const [who, uri] of [[every, 'page://secret'], [every, 'repo://one'], [few, 'own://text']] as const) {
    t.strictSame(await refusal(who, 'tools/call', reading(uri), uri), unknown, uri)
  }
  const wrong = { name: 'read_resource', arguments: { uri: 'own://text', more: 1 } }
  t.match(await every.request('tools/call', wrong), { isError: true, content: [{ text: /more/ }] })
})

t.test('a read by read_resource is checked and audited as a read of that resource', async t => {
  const { lines, server } = logged('info')
  const apiKeys = [listed('ada', ADA, ['mcp']), listed('bob', BOB, ['mcp', 'own'])]
  const views = { tools: { resources: ['own://*'], resourcesAsTools: true } }
  const app = await gateway(t, { tools: false, plugins: [own], views, scopes, apiKeys, audit: true }, server)
  const call = async (key: string, uri: string): Promise<{ statusCode: number, body: string }> =>
    await app.inject({
      method: 'POST',
      url: '/message/tools',
      headers: bearer(key),
      payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: reading(uri) }
    })
  const audited = (): unknown => lines.findLast(line => 'audit' in line)
  t.match(await call(BOB, 'own://text'), { statusCode: 200, body: /"text":"text"/ })
  t.match(audited(), { audit: { method: 'tools/call', resource: 'own://text', outcome: 'ok' } })
  t.match(await call(ADA, 'own://text'), { statusCode: 403, body: /own/ })
  t.match(audited(), { audit: { resource: 'own://text', outcome: 'denied' } })
  t.match(await call(ADA, 'xyzzy://a'), { statusCode: 200, body: /Resource not found: xyzzy/ })
})

t.test('read_resource needs the scopes of its view like everything in it', async t => {
  const views = { tools: { resources: ['own://*'], scopes: ['release'], resourcesAsTools: true } }
  const app = await gateway(t, { tools: false, plugins: [own], views })
  const client = await createClient(app, { view: 'tools', identity })
  t.strictSame(await names(client), [])
  await t.rejects(client.call('read_resource', { uri: 'own://text' }), { message: /Unknown tool: read_resource$/ })
})

t.test('a view takes these tools away like others', async t => {
  const app = await gateway(t, { tools: false, plugins: [own], views: { a: { ...some, exclude: ['list_*'] } } })
  t.strictSame(await names(await createClient(app, { view: 'a' })), ['calculate', 'read_resource'])
})

t.test('list_resources waits for servers that were never read, as a list does', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const views = { all: { resourcesAsTools: true } }
  const app = await gateway(t, { tools: false, mcpServers: { fixture: entry }, views })
  const { output } = await (await createClient(app, { view: 'all' })).call('list_resources', {})
  t.ok((output as { resources: Json[] }).resources.length > 0)
})

t.test('a question of a server that is read reaches the client of read_resource', async t => {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
  const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema } }
  const pages = new FakeUpstream('docs', {
    modern: true,
    resources: [{ uri: 'page://a', name: 'a' }],
    answers: {
      'resources/read': ({ uri, inputResponses }) =>
        inputResponses === undefined
          ? { resultType: 'input_required', inputRequests: { who: question } }
          : { contents: [{ uri, text: JSON.stringify(inputResponses) }] }
    }
  })
  const app = await gateway(t, { tools: false, views: { tools: { resourcesAsTools: true } } })
  const { connect, client } = await served(t, [pages], {}, app)
  await connect(pages)
  const elicit = (): Json => ({ action: 'accept', content: { name: 'Ada' } })
  const answers = { 'elicitation/create': elicit }
  for (const { version } of [newestLegacy, modern]) {
    const inside = await client({ view: 'tools', protocolVersion: version, capabilities: { elicitation: {} }, answers })
    t.match(await inside.call('read_resource', { uri: 'page://a' }), { text: /"name":"Ada"/ }, version)
  }
})
