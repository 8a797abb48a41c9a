import { writeFileSync } from 'node:fs'
import t from 'tap'
import type { Options } from '../../../app.js'
import { SPACE, storableOf } from '../../../upstreams/pins/accepted.js'
import { definitionsOf, sourceOf } from '../../../upstreams/pins/definitions.js'
import { ADA, BOB, bearer, listed } from '../../support/keys.js'
import { seriesOf, sum } from '../../support/metrics.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { until } from '../../support/wait.js'
import { loggedGateway } from '../sign-in/place.js'
import { apiServer, documentOf, fileOf } from './api.js'

const get = (operationId: string, more: object = {}): object => ({ get: { operationId, ...more } })

t.test('an API is an upstream like any other', async t => {
  const api = await apiServer(t)
  const query = { parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }] }
  const document = documentOf({ '/pets': get('pets', query), '/toys': get('toys'), '/secrets': get('secrets') })
  const openapi = fileOf(t, document)
  const shared: Partial<Options> = { ephemeral: true, plugins: [], tools: false, apiKeys: [listed('ada', ADA), listed('bob', BOB, ['mcp', 'vault', 'metrics'])] }
  const { app, log } = await loggedGateway(t, {
    ...shared,
    metrics: true,
    rate: 1_000,
    toolRates: { api__toys: 1 },
    mcpServers: {
      api: { openapi, url: api.url, override: { pets: { description: 'Finds pets', arguments: { q: { name: 'words' } } } } },
      vault: { openapi, url: api.url, scopes: ['vault'], includeTools: ['secrets'] }
    },
    views: {
      shop: { tools: ['api__pets'], names: 'short' },
      search: { servers: ['api'], search: true }
    }
  })
  await upstreamsReady(app, ['api', 'vault'])
  const ask = async (method: string, params: object = {}, { key = ADA, url = '/message' } = {}) => {
    const reply = await app.inject({ method: 'POST', url, headers: bearer(key), payload: { jsonrpc: '2.0', id: 1, method, params } })
    const { result, error } = reply.json<{ result?: { tools?: Array<{ name: string }> }, error?: object }>()
    return { status: reply.statusCode, result, error }
  }
  const names = async (to: object = {}) => (await ask('tools/list', {}, to)).result?.tools?.map(({ name }) => name)
  const call = async (name: string, args: object = {}, to: object = {}) => await ask('tools/call', { name, arguments: args }, to)

  t.strictSame(await names(), ['api__pets', 'api__secrets', 'api__toys'])
  t.strictSame(await names({ key: BOB }), ['api__pets', 'api__secrets', 'api__toys', 'vault__secrets'], 'scopes')
  t.match(await call('vault__secrets'), { error: Object })
  t.match(await call('vault__secrets', {}, { key: BOB }), { result: { content: [{ text: '{}' }] } })
  t.strictSame(await names({ url: '/message/shop' }), ['pets'], 'views')
  t.match(await ask('tools/list', {}, { url: '/message/shop' }), {
    result: { tools: [{ description: 'Finds pets', inputSchema: { properties: { words: {}, q: undefined } } }] }
  }, 'overrides')
  await call('pets', { words: 'rex' }, { url: '/message/shop' })
  t.equal(api.received.at(-1)?.url, '/pets?q=rex')
  const before = api.received.length
  t.match(await call('call_tool', { name: 'api__pets', arguments: { words: 'a b' } }, { url: '/message/search' }), { result: { content: [{ text: '{}' }] } })
  t.strictSame(api.received.slice(before).map(({ url }) => url), ['/pets?q=a%20b'], 'search')
  const toys = await Promise.all(Array.from({ length: 6 }, async () => await call('api__toys')))
  t.ok(toys.some(({ status, error }) => status === 429 || error !== undefined), 'rates of tools')
  t.ok(toys.some(({ result }) => result !== undefined))
  const lines = log.flatMap(line => /"audit"/.test(line) ? [(JSON.parse(line) as { audit: object }).audit] : [])
  t.ok(lines.some(line => 'upstream' in line || 'tool' in line))
  t.match(lines.find(line => (line as { tool?: string }).tool === 'api__pets'), {
    principal: 'key:ada', method: 'tools/call', tool: 'api__pets', outcome: 'ok', ms: Number
  }, 'the audit log')
  const series = seriesOf((await app.inject({ url: '/metrics', headers: bearer(BOB) })).body)
  t.ok(sum(series, 'patchbay_calls_total', { method: 'tools/call', tool: 'api__pets', outcome: 'ok' }) >= 2, 'metrics')
})

t.test('an operation that a document changes is held back until it is accepted', async t => {
  const api = await apiServer(t)
  const openapi = fileOf(t, documentOf({ '/pets': get('pets', { summary: 'Lists pets' }) }))
  const { app } = await loggedGateway(t, { ephemeral: true, plugins: [], tools: false, mcpServers: { api: { openapi, url: api.url, pins: 'hold' } } })
  await until(() => app.mcp.upstreams.listsOf('api') !== undefined, 'the first lists')
  t.strictSame(app.mcp.tools.names(), [], 'nothing is served that was never accepted')
  const entry = app.mcp.upstreams.get('api')?.entry
  const snapshot = app.mcp.upstreams.listsOf('api')
  if (entry === undefined || snapshot === undefined) throw new Error('the API was not read')
  const section = { source: sourceOf(entry), ...definitionsOf(snapshot) }
  await app.mcp.store.values.put(SPACE, 'api', await storableOf('api', section))
  await app.mcp.upstreams.pins.reload()
  await until(() => app.mcp.tools.get('api__pets') !== undefined, 'the accepted tool')
  writeFileSync(openapi, JSON.stringify(documentOf({ '/pets': get('pets', { summary: 'Sends all files' }), '/more': get('more') })))
  await app.mcp.upstreams.configure([entry])
  await until(() => app.mcp.upstreams.listsOf('api') !== snapshot, 'the changed document')
  t.strictSame(app.mcp.tools.names(), ['api__pets'])
  t.equal(app.mcp.tools.get('api__pets')?.listed.description, 'Lists pets')
})
