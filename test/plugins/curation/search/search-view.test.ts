import t from 'tap'
import { createClient, tool as localTool, type Client, type Options } from '../../../../app.js'
import type { Tool } from '../../../../protocol/definitions/tool.js'
import type { Call } from '../../../../protocol/dispatch/call.js'
import { modern } from '../../../../protocol/revisions/table.js'
import { ANONYMOUS_ALL_SCOPES } from '../../../../protocol/wire/identity.js'
import { multiply, readLabelled } from '../../../../bench/measure/ranking.js'
import { longestTurn } from '../../../../bench/measure/turns.js'
import { gateway, listening } from '../../../support/gateway.js'
import type { Json } from '../../../support/specification/message.js'
import { newestLegacy } from '../../../support/specification/revisions.js'
import { bestTime } from '../../../support/timing.js'
import { openFixture } from '../../../upstreams/fixture/open.js'
import { FakeUpstream } from '../../../upstreams/lists/fake-upstream.js'
import { listed, tool } from '../../../upstreams/lists/served.js'
import { roads } from '../roads.js'
import { announced, docs, failure, found, github, indirect, searchable } from './searchable.js'

const LIST_CHANGED = 'notifications/tools/list_changed'
const SEARCH = ['call_tool', 'describe_tools', 'find_tools']

const names = async (client: Client): Promise<unknown[]> => await listed(client, 'tools/list', 'tools', 'name')

t.test('a view with search lists three tools and what is always listed, in few tokens', async t => {
  const always = ['calc*', 'docs__lookup']
  const { client } = await searchable(t, { all: { search: true }, some: { search: { always } } })
  t.strictSame(await names(await client({ view: 'all' })), SEARCH)
  const some = ['calculate', 'call_tool', 'describe_tools', 'docs__lookup', 'find_tools']
  t.strictSame(await names(await client({ view: 'some' })), some)
  const { tools } = await (await client({ view: 'all' })).request('tools/list')
  t.ok(JSON.stringify(tools).length / 4 <= 700, `${JSON.stringify(tools).length / 4} tokens`)
})

t.test('the list of a view with search has few tokens, however many servers there are and whatever they say', async t => {
  const servers = Array.from({ length: 50 }, (_, at) => new FakeUpstream(`server-${at}`, {
    tools: [tool('look', { description: 'long '.repeat(500) })],
    instructions: at % 2 === 0 ? `Knows ${'all about it '.repeat(500)}` : 'é"\\\n'.repeat(1_500)
  }))
  const { client } = await searchable(t, { all: { search: true } }, {}, servers)
  const inside = await client({ view: 'all' })
  const { tools } = await inside.request('tools/list')
  t.ok(JSON.stringify(tools).length / 4 <= 700, `${JSON.stringify(tools).length / 4} tokens`)
  const { text } = await inside.call('find_tools', { query: 'look' })
  t.ok(text.length < 8 * 1_000, `${text.length} characters of eight tools`)
})

t.test('what is not listed is called by its name', async t => {
  const { client } = await searchable(t)
  const inside = await client({ view: 'all' })
  t.match(await inside.call('github__search'), { text: 'search' })
  t.match(await inside.call('calculate', { a: 1, b: 2 }), { text: '3' })
})

t.test('the list stays the same when tools that are not listed change, and nothing is announced', async t => {
  const { app, client, upstreams: [hub] } = await searchable(t, { all: { search: { always: ['calculate'] } } })
  const inside = await client({ view: 'all' })
  const before = JSON.stringify(await inside.request('tools/list'))
  if (hub !== undefined) hub.script.tools = [tool('search'), tool('brew', { description: 'Brews coffee' })]
  hub?.connection.emit(LIST_CHANGED)
  app.mcp.tools.add(localTool({ name: 'later', description: 'Comes later', run: () => 'late' }))
  app.mcp.tools.remove('later')
  await found(inside, 'coffee')
  while ((await found(inside, 'coffee')).length === 0) await announced()
  await announced()
  t.equal(JSON.stringify(await inside.request('tools/list')), before)
  t.strictSame(inside.notifications.filter(({ method }) => method === LIST_CHANGED), [])
  t.strictSame(await found(inside, 'coffee'), ['github__brew'], 'and what is new is found')
  t.strictSame(await found(inside, 'delete'), [], 'and what went is not')
  app.mcp.tools.remove('calculate')
  await inside.notified(LIST_CHANGED)
  t.strictSame(await names(inside), SEARCH, 'what is listed is announced')
})

t.test('a tool whose name another one has got is not found any more', async t => {
  const override = { github__search: { name: 'look' }, github__brew: { name: 'look' } }
  const { client, upstreams: [hub] } = await searchable(t, { all: { search: true, override } })
  const inside = await client({ view: 'all' })
  t.equal((await found(inside, 'search repositories'))[0], 'look')
  if (hub !== undefined) hub.script.tools = [tool('brew', { description: 'Brews coffee' })]
  hub?.connection.emit(LIST_CHANGED)
  while (!(await found(inside, 'coffee')).includes('look')) await announced()
  t.strictSame(await found(inside, 'search repositories'), ['docs__search'])
})

t.test('find_tools gives signatures, names or whole definitions, as many as asked for', async t => {
  const { client } = await searchable(t, { all: { search: { limit: 1 } } })
  const inside = await client({ view: 'all' })
  const brief = await inside.call('find_tools', { query: 'open an issue' })
  t.equal(brief.text, 'github__create_issue(repo*: str, title: str) - Open an issue.')
  t.strictSame(brief.output, { tools: [{ name: 'github__create_issue', signature: brief.text }] })
  const named = await inside.call('find_tools', { query: 'open an issue', detail: 'names' })
  t.strictSame([named.text, named.output], ['github__create_issue', { tools: [{ name: 'github__create_issue' }] }])
  const full = await inside.call('find_tools', { query: 'open an issue', detail: 'full' })
  const { tools: [definition] } = full.output as { tools: Json[] }
  const whole = (await (await client()).request('tools/list'))['tools'] as Json[]
  t.strictSame(definition, whole.find(({ name }) => name === 'github__create_issue'), 'as it is listed elsewhere')
  t.strictSame(JSON.parse(full.text), definition)
  t.equal((await found(inside, 'search')).length, 1, 'the limit of the view')
  t.equal((await found(inside, 'search', { limit: 2 })).length, 2)
  t.match(await inside.call('find_tools', { query: 'xyzzy' }), { text: /^No tool fits/, output: { tools: [] } })
  await t.rejects(inside.call('find_tools', { query: 'a', limit: 51 }), { message: /limit/ })
  const long = inside.call('find_tools', { query: 'x'.repeat(1024 * 1024) })
  await t.rejects(long, { message: /has 1048576 characters, and 2000 are allowed/ })
})

t.test('definitions are given up to a number of bytes, and the others as signatures, with how to get them', async t => {
  const description = `Brews coffee. ${'é'.repeat(15_000)}`
  const tools = Array.from({ length: 12 }, (_, at) => tool(`brew_${at}`, { description }))
  const huge = tool('roast', { description: `Roasts beans. ${'x'.repeat(220_000)}` })
  const upstream = new FakeUpstream('wordy', { tools: [...tools, huge] })
  const { client } = await searchable(t, undefined, {}, [upstream])
  const inside = await client({ view: 'all' })
  const { output, text } = await inside.call('find_tools', { query: 'coffee', limit: 12, detail: 'full' })
  const { tools: given } = output as { tools: Json[] }
  t.equal(given.length, 12)
  t.equal(given.filter(each => 'inputSchema' in each).length, 3)
  t.equal(given.filter(each => /^wordy__brew_\d+\(.*\) - Brews coffee\.$/.test(String(each['signature']))).length, 9)
  const why = /^Signatures only, because an answer has at most 100000 bytes .*; describe_tools gives these, with fewer names/m
  t.match(text, why)
  t.ok(Buffer.byteLength(text) < 110_000)
  const names = given.slice(0, 8).map(({ name }) => name)
  const described = await inside.call('describe_tools', { names })
  t.match(described.text, why, 'as with describe_tools')
  t.ok(Buffer.byteLength(described.text) < 110_000)
  const whole = await inside.call('describe_tools', { names: ['wordy__roast'] })
  t.ok(whole.text.length > 220_000, 'one alone is whole, however long it is')
})

t.test('a tool whose name is in the query comes first, whatever the scores', async t => {
  const description = 'create issue create_issue issue create'
  const tools = Array.from({ length: 20 }, (_, at) => tool(`issue_issue_create_${at}`, { description }))
  const views: Options['views'] = { all: { search: true }, short: { search: true, names: 'short' } }
  const { client } = await searchable(t, views, {}, [github(), new FakeUpstream('wordy', { tools })])
  const [long, short] = [await client({ view: 'all' }), await client({ view: 'short' })]
  for (const query of ['github__create_issue', 'create_issue', 'please call create_issue for me', 'Create_Issue']) {
    t.equal((await found(long, query))[0], 'github__create_issue', query)
    t.equal((await found(short, query))[0], 'create_issue', `${query}, by the name in the view`)
  }
})

t.test('describe_tools gives definitions, and says which names are unknown', async t => {
  const { client } = await searchable(t, { short: { search: true, names: 'short', exclude: ['docs__search'] } })
  const inside = await client({ view: 'short' })
  const { output, text } = await inside.call('describe_tools', { names: ['search', 'xyzzy', 'github__create_issue'] })
  t.match((output as { tools: Json[] }).tools, [
    { name: 'search', description: 'Search repositories' },
    { name: 'create_issue', inputSchema: { required: ['repo'] } }
  ])
  t.match(text, /Unknown tool: xyzzy/)
  await t.rejects(inside.call('describe_tools', { names: ['xyzzy'] }), { message: /Unknown tool: xyzzy/ })
  const many = Array.from({ length: 9 }, () => 'search')
  await t.rejects(inside.call('describe_tools', { names: many }), { message: /names/ })
})

t.test('what a caller may not call, it does not find, describe or call', async t => {
  const views = { few: { servers: ['github'], search: true } }
  const { client } = await searchable(t, views, { scopes: { 'tools/github__delete_repo': ['danger'] } })
  const as = async (...scopes: string[]): Promise<Client> =>
    await client({ view: 'few', identity: { principal: 'ada', scopes: new Set(scopes) } })
  const [ada, bold] = [await as('mcp'), await as('mcp', 'danger')]
  const allowed: unknown[] = ['github__search', 'github__create_issue']
  t.equal((await found(bold, 'delete_repo'))[0], 'github__delete_repo')
  for (const query of ['delete_repo', 'github__delete_repo', 'delete for ever', 'docs__lookup', 'handbook', 'calculate']) {
    t.ok((await found(ada, query)).every(name => allowed.includes(name)), query)
  }
  const without = async (name: string, params: Json): Promise<string> =>
    JSON.stringify(await failure(ada, params)).replaceAll(name, 'NAME')
  const described = async (name: string): Promise<string> =>
    await without(name, { name: 'describe_tools', arguments: { names: [name] } })
  const called = async (name: string): Promise<string> => await without(name, indirect(name))
  const direct = async (name: string): Promise<string> => await without(name, { name })
  for (const name of ['github__delete_repo', 'docs__lookup', 'calculate']) {
    t.equal(await described(name), await described('nowhere__xyzzy'), `${name} is described as unknown`)
    t.equal(await called(name), await direct(name), `${name} is called as directly`)
    t.equal(await called(name), await called('nowhere__xyzzy'), `${name} is called as what there is not`)
  }
})

t.test('a request that is narrowed finds and calls what it is narrowed to', async t => {
  const { app } = await searchable(t, { all: { search: true } })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const ways = {
    query: { query: 'tools=github__search' },
    header: { headers: { 'x-mcp-toolsets': 'github', 'x-mcp-exclude-tools': '*_issue,*_repo' } }
  }
  const query = { name: 'find_tools', arguments: { query: 'search issue repository calculate', detail: 'names' } }
  for (const [road, connect] of Object.entries(roads)) {
    for (const [way, narrowed] of Object.entries(ways)) {
      const ask = await connect(t, url, { view: 'all', ...narrowed })
      const { result: { tools } } = await ask('tools/list') as { result: { tools: Json[] } }
      t.strictSame(tools.map(({ name }) => name), SEARCH, `${road}, ${way}: only its name takes a tool of search away`)
      t.match(await ask('tools/call', query), { result: { content: [{ text: 'github__search' }] } }, `${road}, ${way}`)
      t.match(await ask('tools/call', indirect('github__search')), { result: { content: [{ text: 'search' }] } })
      const unknown = async (name: string): Promise<string> =>
        JSON.stringify(await ask('tools/call', indirect(name))).replaceAll(name, 'NAME')
      t.equal(await unknown('github__create_issue'), await unknown('nowhere__xyzzy'))
    }
    const headers = { 'x-mcp-exclude-tools': 'call_tool', 'x-mcp-readonly': 'true' }
    const ask = await connect(t, url, { view: 'all', headers })
    t.match(await ask('tools/list'), { result: { tools: [{ name: 'describe_tools' }, { name: 'find_tools' }] } })
    t.match(await ask('tools/call', indirect('github__search')), { error: { message: /Unknown tool: call_tool/ } })
  }
})

t.test('find_tools says in their own words which servers there are, to those who may know', async t => {
  const hub = github({ scopes: ['code'] })
  const views = { all: { search: true }, few: { servers: ['docs'], search: true } }
  const { client } = await searchable(t, views, {}, [hub, docs()])
  const described = async (client: Client): Promise<unknown> => {
    const { tools } = await client.request('tools/list') as { tools: Json[] }
    return tools.find(({ name }) => name === 'find_tools')?.description
  }
  const as = async (view: string, ...scopes: string[]): Promise<Client> =>
    await client({ view, identity: { principal: 'ada', scopes: new Set(scopes) } })
  const every = await client({ view: 'all' })
  t.match(await described(every), /Servers: docs \(Knows the handbook\.\), github \(Works with repositories\.\)$/)
  t.equal(await described(await as('all', 'mcp', 'code')), await described(every))
  t.match(await described(await as('all', 'mcp')), /Servers: docs \(Knows the handbook\.\)$/)
  t.match(await described(await client({ view: 'few' })), /Servers: docs \(Knows the handbook\.\)$/)
  const few = await as('all', 'mcp')
  const names = ['find_tools']
  t.notMatch(JSON.stringify(await few.request('tools/call', { name: 'describe_tools', arguments: { names } })), /github/)
  hub.script.instructions = 'Has other words.'
  hub.connect()
  await every.notified(LIST_CHANGED)
  t.match(await described(every), /github \(Has other words\.\)/)
})

t.test('tools that only the user interface of an app may call are found by no search', async t => {
  const refresh = tool('refresh', { description: 'Refreshes the chart', _meta: { ui: { visibility: ['app'] } } })
  const apps = new FakeUpstream('apps', { tools: [refresh, tool('draw', { description: 'Draws the chart' })] })
  const { client } = await searchable(t, { all: { search: true } }, {}, [apps])
  t.strictSame(await found(await client({ view: 'all' }), 'refresh the chart apps__refresh'), ['apps__draw'])
})

t.test('a tool that says something else in a view is found by that, in this view alone', async t => {
  const { app, client } = await searchable(t)
  const call = { identity: ANONYMOUS_ALL_SCOPES, channel: {}, revision: modern } as unknown as Call
  const search = app.mcp.search.open('other', { limit: 8, isReadOnly: false })
  const [find] = search.tools()
  const query = async (text: string): Promise<unknown> =>
    (await find?.run({ query: text, detail: 'names' }, call) as { structuredContent: { tools: unknown } }).structuredContent.tools
  const { accessName = 'calculate', ...whole } = app.mcp.tools.get('calculate') as Tool
  const sum = { ...whole, accessName, name: 'sum', listed: { ...whole.listed, name: 'sum', description: 'Makes a total' } }
  search.change([], [sum])
  t.strictSame(await query('total'), [{ name: 'sum' }])
  t.strictSame(await query('sum'), [{ name: 'sum' }])
  t.strictSame(await query('adds two numbers'), [], 'the text of the whole gateway is not that of the view')
  const inside = await client({ view: 'all' })
  t.strictSame(await found(inside, 'total'), [])
  t.strictSame(await found(inside, 'adds two numbers'), ['calculate'])
  search.change([sum], [{ ...whole, accessName }])
  t.strictSame(await query('total'), [])
  t.strictSame(await query('adds two numbers'), [{ name: 'calculate' }])
  search.close()
})

t.test('a short name does not hide the tools of search', async t => {
  const tools = [tool('call_tool', { description: 'Calls of another gateway' }), tool('other')]
  const nested = new FakeUpstream('nested', { tools })
  const { client } = await searchable(t, { short: { names: 'short', search: true } }, {}, [nested])
  const inside = await client({ view: 'short' })
  t.strictSame(await found(inside, 'another gateway'), ['nested__call_tool'])
  t.match(await inside.request('tools/call', indirect('nested__call_tool', { a: 1 })), { content: [{ text: 'call_tool' }] })
})

t.test('views get search and lose it while clients are connected', async t => {
  const { app, client } = await searchable(t, { all: {} })
  const inside = await client({ view: 'all' })
  t.equal((await names(inside)).length, 6)
  await app.mcp.curation.configure({ all: { search: true } })
  await inside.notified(LIST_CHANGED)
  t.strictSame(await names(inside), SEARCH)
  t.strictSame(await found(inside, 'handbook'), ['docs__search'])
  await app.mcp.curation.configure({ all: { search: { always: ['docs__*'] } } })
  await inside.notified(LIST_CHANGED)
  t.strictSame(await names(inside), ['call_tool', 'describe_tools', 'docs__lookup', 'docs__search', 'find_tools'])
  t.strictSame(await found(inside, 'handbook'), ['docs__search'])
  await app.mcp.curation.configure({ all: {} })
  await inside.notified(LIST_CHANGED)
  t.equal((await names(inside)).length, 6)
  await t.rejects(inside.call('find_tools', { query: 'a' }), { message: /Unknown tool: find_tools/ })
  await app.mcp.curation.configure({ all: { search: true } })
  await inside.notified(LIST_CHANGED)
  t.strictSame(await found(inside, 'handbook'), ['docs__search'], 'the index is made again')
})

t.test('a caller is told of the servers of which it may use a tool', async t => {
  const scopes = Object.fromEntries(['search', 'lookup'].map(name => [`tools/docs__${name}`, ['secret']]))
  const { client } = await searchable(t, undefined, { scopes })
  const told = async (...granted: string[]): Promise<unknown> => {
    const inside = await client({ view: 'all', identity: { principal: 'ada', scopes: new Set(granted) } })
    const { tools } = await inside.request('tools/list') as { tools: Json[] }
    return tools.find(({ name }) => name === 'find_tools')?.['description']
  }
  t.match(await told('mcp'), /Servers: github \(Works with repositories\.\)$/)
  t.match(await told('mcp', 'secret'), /Servers: docs \(Knows the handbook\.\), github/)
})

t.test('find_tools waits for servers that were never read, as a list does', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await gateway(t, { tools: false, mcpServers: { fixture: entry }, views: { all: { search: true } } })
  t.ok((await found(await createClient(app, { view: 'all' }), 'fixture__echo')).includes('fixture__echo'))
})

t.test('two gateways with the same tools rank them alike, in whatever order they came', async t => {
  const [one, other] = [await searchable(t), await searchable(t, undefined, {}, [docs(), github()])]
  const [here, there] = [await one.client({ view: 'all' }), await other.client({ view: 'all' })]
  for (const query of ['search', 'search repositories', 'a word', 'issue', 'the']) {
    t.strictSame(await found(there, query), await found(here, query), query)
  }
})

t.test('mistakes in the option are named', async t => {
  const refusal = async (search: unknown): Promise<string> =>
    await gateway(t, { views: { a: { search } } } as unknown as Partial<Options>)
      .then(() => 'none', (error: Error) => error.message)
  t.equal(await refusal('yes'), 'option views.a.search must be true, false, or an object with "always" and "limit"')
  t.equal(await refusal({ limit: 0 }), 'option views.a.search.limit must be a whole number from 1 to 50')
  t.equal(await refusal({ always: 'x' }), 'option views.a.search.always must be a list of names or globs')
  t.equal(await refusal({ allways: [] }), 'option views.a.search has no "allways"; did you mean "always"?')
  t.equal(await refusal(false), 'none')
})

t.test('5,000 tools come into a view without a long turn of the event loop, and are found', async t => {
  const plain = localTool({ name: 'plain', description: '', run: () => '' })
  const many = multiply(readLabelled().tools, 5_000)
    .map(({ name, listed }) => ({ ...plain, name, listed, upstream: 'many' }))
  const { app } = await listening(t, { tools: false, plugins: [], views: { all: { search: true } } })
  const client = await createClient(app, { view: 'all' })
  const longest = await bestTime(20, async () => {
    app.mcp.tools.relay(many, [])
    await found(client, 'nothing')
    app.mcp.tools.relay([], many)
    return await longestTurn(async () => { t.equal((await found(client, 'create a github issue')).length, 8) })
  })
  t.ok(longest < 20, `${longest} ms`)
})
