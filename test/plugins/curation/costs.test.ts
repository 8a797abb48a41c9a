import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, prompt, resource, tool as localTool, type Client, type Options } from '../../../app.js'
import { estimateTokens } from '../../../lib/token-estimate.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { served, tool, type Served } from '../../upstreams/lists/served.js'

type Json = Record<string, unknown>

const LONG = 'look_up_everything_that_was_ever_written_about_a_thing'

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(localTool({ name: 'calculate', description: 'Calculates', run: () => '4' }))
  mcp.tools.add(localTool({ name: 'secret', description: 'Hidden', scopes: ['ops'], run: () => 'x' }))
  mcp.prompts.add(prompt({ name: 'greet', get: () => 'Hello' }))
  mcp.resources.add(resource({ uri: 'own://text', name: 'text', read: () => 'text' }))
  mcp.resources.add(resource({ uri: 'own://{id}', name: 'any', read: () => 'text' }))
}

const VIEWS: Options['views'] = {
  release: { description: 'For those who release', servers: ['github'], tools: ['calculate'], names: 'short' },
  whole: {}
}

/** A gateway with an upstream, things of its own, and two views. */
async function costly (t: Test, options: Partial<Options> = {}): Promise<Served> {
  const github = new FakeUpstream('github', { tools: [tool('search'), tool(LONG)], prompts: [{ name: 'review' }] })
  const app = await gateway(t, { tools: false, plugins: [own], views: VIEWS, ...options })
  const place = await served(t, [github], {}, app)
  await place.connect(github)
  return place
}

const toolsOf = async (client: Client): Promise<Json[]> => (await client.request('tools/list'))['tools'] as Json[]

const sum = (tools: Json[]): number => tools.reduce((tokens, each) => tokens + estimateTokens(each), 0)

t.test('each view and server is listed with its numbers, and the tokens of what its clients are given', async t => {
  const { client } = await costly(t)
  const { views } = await (await client()).request('patchbay/views') as { views: Json[] }
  t.strictSame(views.map(({ name, kind, path }) => [name, kind, path]), [
    [undefined, 'all', '/mcp'],
    ['release', 'view', '/mcp/release'],
    ['whole', 'view', '/mcp/whole'],
    ['github', 'server', '/mcp/github']
  ])
  t.match(views[0], { tools: 4, resources: 2, prompts: 2 })
  t.match(views[1], { description: 'For those who release', tools: 3, resources: 0, prompts: 1 })
  t.match(views[3], { tools: 2, resources: 0, prompts: 1 })
  for (const { name, tokens } of views) {
    const seen = await toolsOf(await client(name === undefined ? {} : { view: String(name) }))
    t.equal(tokens, sum(seen), `${String(name)} as its clients are given it`)
  }
})

t.test('clients that would cut or refuse a name are told with the view that has it', async t => {
  const { app } = await costly(t)
  const views = await app.mcp.costs.ofViews()
  const remarksOf = (wanted: string | undefined) => views.find(({ name }) => name === wanted)?.remarks
  t.strictSame(remarksOf(undefined), [], 'the long name was shortened for all clients')
  t.match(remarksOf('release'), [
    `Claude Code fails when its tool search finds names of more than 49 characters: ${LONG}`,
    `Cursor leaves out names of more than 51 characters: ${LONG}`,
    `VS Code cuts names of more than 51 characters: ${LONG}`,
    `Gemini CLI cuts names of more than 50 characters: ${LONG}`
  ])
})

t.test('the tools of a view have their names there, their canonical names and their tokens', async t => {
  const { app, client } = await costly(t)
  const tools = await app.mcp.costs.ofTools('release')
  const seen = await toolsOf(await client({ view: 'release' }))
  t.strictSame(tools?.map(({ name, tokens }) => ({ name, tokens })), seen.map(each => (
    { name: each['name'], tokens: estimateTokens(each) })))
  t.match(tools, [
    { name: 'calculate', canonical: 'calculate', server: undefined, changed: undefined },
    { name: LONG, canonical: /^github__look_up.*_[\w-]{6}$/, server: 'github', changed: ['name'] },
    { name: 'search', canonical: 'github__search', server: 'github', changed: ['name'] }
  ])
  t.equal(await app.mcp.costs.ofTools('none'), undefined)
})

t.test('an operator gets a tool of its view as it is listed, and as it was', async t => {
  const { client } = await costly(t)
  const inView = await client({ view: 'release' })
  const listed = (await toolsOf(inView)).find(({ name }) => name === 'search') ?? {}
  t.strictSame(await inView.request('patchbay/views/tool', { name: 'search' }), {
    name: 'search',
    canonical: 'github__search',
    server: 'github',
    tokens: estimateTokens(listed),
    changed: ['name'],
    originalTokens: estimateTokens({ ...listed, name: 'github__search' }),
    listed,
    original: { ...listed, name: 'github__search' }
  })
  t.match(await (await client()).request('patchbay/views/tool', { name: 'secret' }), { canonical: 'secret' })
  await t.rejects(inView.request('patchbay/views/tool', { name: 'secret' }), { code: -32602, message: /Unknown tool/ })
})

t.test('to callers without the scope admin the methods do not exist', async t => {
  const { client } = await costly(t)
  for (const scopes of [[], ['mcp'], ['mcp', 'ops', 'metrics']]) {
    const caller = await client({ identity: { principal: 'ada', scopes: new Set(scopes) } })
    for (const [method, params] of [['patchbay/views', {}], ['patchbay/views/tool', { name: 'calculate' }]] as const) {
      await t.rejects(caller.request(method, params), { code: -32601, message: `Method not found: ${method}` })
    }
  }
})

t.test('an operator that is bound to a view hears of that one alone', async t => {
  const { app } = await costly(t)
  const identity = { principal: 'ada', scopes: new Set(['mcp', 'admin']), view: 'release' }
  const client = await createClient(app, { identity })
  t.teardown(() => client.close())
  t.match(await client.request('patchbay/views'), { views: [{ name: 'release', tools: 3 }] })
  t.equal((await client.request('patchbay/views') as { views: Json[] }).views.length, 1)
  await t.rejects(client.request('patchbay/views/tool', { name: 'secret' }), { code: -32602 })
})

t.test('what a request is narrowed not to see is unknown', async t => {
  const { app } = await costly(t)
  const ask = async (url: string, name: string): Promise<Json> => (await app.inject({
    method: 'POST',
    url,
    headers: { host: 'localhost' },
    payload: { jsonrpc: '2.0', id: 1, method: 'patchbay/views/tool', params: { name } }
  })).json<Json>()
  t.match(await ask('/message?tools=calculate', 'calculate'), { result: { canonical: 'calculate' } })
  t.match(await ask('/message?tools=calculate', 'secret'), { error: { code: -32602, message: /Unknown tool/ } })
})

t.test('figures follow the lists', async t => {
  const { app, client } = await costly(t)
  const before = await app.mcp.costs.ofViews()
  app.mcp.tools.add(localTool({ name: 'more', description: 'More', run: () => 'x' }))
  const numbers = async (): Promise<unknown[]> => (await app.mcp.costs.ofViews()).map(({ tools }) => tools)
  await until(async () => (await numbers())[2] === 5, 'the view that has everything')
  const after = await app.mcp.costs.ofViews()
  t.strictSame(after.map(({ tools }) => tools), [5, 3, 5, 2])
  const added = (await toolsOf(await client())).filter(({ name }) => name === 'more')
  t.equal((after[0]?.tokens ?? 0) - (before[0]?.tokens ?? 0), sum(added))
})

t.test('thousands of tools are counted over several turns', async t => {
  const many = Array.from({ length: 3_000 }, (_, index) => tool(`tool_${index}`, { description: 'x'.repeat(200) }))
  const big = new FakeUpstream('big', { tools: many })
  const { app, connect } = await served(t, [big], { maxUpstreamEntries: 5_000 }, await gateway(t, { tools: false }))
  await connect(big)
  let turns = 0
  const counting = app.mcp.costs.ofViews()
  const count = (): void => { turns++; ticking = setImmediate(count) }
  let ticking = setImmediate(count)
  const [all] = await counting
  clearImmediate(ticking)
  t.ok((all?.tools ?? 0) >= 3_000)
  t.ok(turns >= 5, `others had ${turns} turns`)
})

t.test('a view with search costs what it lists, and says how many more are found', async t => {
  const { app, client } = await costly(t, { views: { finding: { search: true } } })
  const [all, finding] = await app.mcp.costs.ofViews()
  const seen = await toolsOf(await client({ view: 'finding' }))
  t.match(finding, { tools: seen.length, found: all?.tools, tokens: sum(seen) })
  t.match((await app.mcp.costs.ofTools('finding'))?.map(({ name }) => name), seen.map(({ name }) => name))
})

t.test('an overridden tool is given to operators beside its original, without the values that it fixes', async t => {
  const properties = { org: { type: 'string' }, q: { type: 'string' } }
  const inputSchema = { type: 'object', properties, required: ['org'] }
  const found = { name: 'search', description: 'Searches', inputSchema }
  const inEntry = { search: { description: 'Searches ours', arguments: { org: { value: 'CANARY' } } } }
  const inView = { github__search: { name: 'find_code', title: 'Find code' } }
  const github = new FakeUpstream('github', { tools: [found] }, { override: inEntry })
  const views = { code: { servers: ['github'], override: inView } }
  const app = await gateway(t, { tools: false, plugins: [], views })
  const { client, connect } = await served(t, [github], {}, app)
  await connect(github)
  const operator = await client({ view: 'code' })
  const [listed = {}] = await toolsOf(operator)
  const answer = await operator.request('patchbay/views/tool', { name: 'find_code' })
  t.match(answer, { name: 'find_code', canonical: 'github__search', tokens: estimateTokens(listed), listed })
  t.strictSame(answer['changed'], ['name', 'description', 'inputSchema', 'title'])
  t.match(answer['original'], { name: 'github__search', description: 'Searches', inputSchema: { properties } })
  t.equal(answer['originalTokens'], estimateTokens(answer['original'] as Json))
  t.notMatch(JSON.stringify(answer), 'CANARY')
  t.notMatch(JSON.stringify(listed), '"org"')
  const [whole] = await app.mcp.costs.ofTools(undefined) ?? []
  t.match(whole, { name: 'github__search', changed: ['description', 'inputSchema'] })
  t.notMatch(JSON.stringify(await app.mcp.costs.ofViews()), 'CANARY')
})
