import t from 'tap'
import { createClient, resource, tool as localTool, type Client, type Options } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/specification/message.js'
import { newestLegacy } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'
import { Watcher } from '../../support/watcher.js'
import { openFixture } from '../../upstreams/fixture/open.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { listed, served, tool } from '../../upstreams/lists/served.js'
import { all, announced, curated, github, logged, names, own, readOnly, refusal } from './curated.js'

const LIST_CHANGED = 'notifications/tools/list_changed'

t.test('a view that names nothing has everything', async t => {
  const { client } = await curated(t, { whole: {} })
  t.strictSame(await all(await client({ view: 'whole' })), await all(await client()))
})

t.test('servers and tools add up, exclude and readOnly take away', async t => {
  const { client } = await curated(t, {
    'docs-only': { servers: ['docs'] },
    more: { servers: ['github'], tools: ['docs__look*', 'calculate'] },
    careful: { servers: ['github'], exclude: ['*__delete_*', 'github+*'] },
    reading: { readOnly: true },
    tool: { tools: ['write'] },
    silent: { prompts: [] },
    none: { servers: ['github'], tools: [], resources: ['docs+page://*', 'own://text'] }
  })
  const seen = async (view: string): Promise<Record<string, unknown[]>> => await all(await client({ view }))
  t.strictSame(await seen('docs-only'), {
    tools: ['docs__lookup', 'docs__search'],
    prompts: ['docs__explain'],
    resources: ['page://a', 'page://secret'],
    templates: []
  })
  t.strictSame(await seen('more'), {
    tools: ['calculate', 'docs__lookup', 'github__create_issue', 'github__delete_repo', 'github__search'],
    prompts: ['github__review'],
    resources: ['repo://one'],
    templates: ['repo://file/{path}']
  })
  t.strictSame(await seen('careful'), {
    tools: ['github__create_issue', 'github__search'],
    prompts: ['github__review'],
    resources: [],
    templates: []
  })
  t.strictSame(
    (await seen('reading')).tools,
    ['calculate', 'docs__search', 'github__search'],
    'only what says so of itself'
  )
  t.strictSame(await seen('tool'), { tools: ['write'], prompts: [], resources: [], templates: [] })
  t.match(await seen('silent'), { tools: { length: 7 }, prompts: { length: 0 }, resources: { length: 4 } })
  t.strictSame(await seen('none'), {
    tools: [],
    prompts: ['github__review'],
    resources: ['own://text', 'page://a', 'page://secret', 'repo://one'],
    templates: ['repo://file/{path}']
  })
})

t.test('what is outside a view is unknown in calls, reads, completions and subscriptions, byte for byte', async t => {
  const { client } = await curated(t, { small: { servers: ['docs'], exclude: ['docs+page://secret'] } })
  const inside = await client({ view: 'small' })
  const requests: Array<[method: string, hidden: string, missing: string, params: (name: string) => Json]> = [
    ['tools/call', 'github__search', 'nowhere__xyzzy', name => ({ name })],
    ['tools/call', 'calculate', 'xyzzyabc', name => ({ name })],
    ['prompts/get', 'greet', 'xyzzy', name => ({ name })],
    ['resources/read', 'page://secret', 'page://xyzzyy', uri => ({ uri })],
    ['resources/read', 'docs+page://secret', 'docs+page://xyzzyy', uri => ({ uri })],
    ['resources/read', 'own://text', 'own://xyzz', uri => ({ uri })],
    ['resources/read', 'repo://file/x', 'repo://xyzz/x', uri => ({ uri })],
    ['resources/subscribe', 'repo://one', 'repo://xyz', uri => ({ uri })],
    [
      'completion/complete',
      'greet',
      'xyzzy',
      name => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'who', value: '' } })
    ],
    [
      'completion/complete',
      'repo://file/{path}',
      'repo://xyzz/{path}',
      uri => ({ ref: { type: 'ref/resource', uri }, argument: { name: 'path', value: '' } })
    ]
  ]
  for (const [method, hidden, missing, params] of requests) {
    const answer = await refusal(inside, method, params(hidden), hidden)
    t.not(answer, 'no error', `${method} ${hidden}`)
    t.strictSame(answer, await refusal(inside, method, params(missing), missing), `${method} ${hidden}`)
  }
  await t.rejects(
    inside.call('docs__serach'),
    { message: /did you mean "docs__search"/ },
    'what is in the view is suggested'
  )
  await t.rejects(
    inside.call('docs__create_issue'),
    { message: /Unknown tool: docs__create_issue$/ },
    'and nothing else'
  )
})

t.test('what is in a view is called, read and completed as without it', async t => {
  const {
    client,
    upstreams: [hub]
  } = await curated(t, { short: { names: 'short', exclude: ['docs__search'] } })
  const inside = await client({ view: 'short' })
  t.strictSame(await names(inside), ['calculate', 'create_issue', 'delete_repo', 'lookup', 'search', 'write'])
  t.match(await inside.call('search'), { text: 'search' })
  t.match(await inside.call('github__search'), { text: 'search' }, 'the long name is understood')
  t.match(hub?.connection.of('tools/call').at(-1)?.params, { name: 'search' })
  t.match(await inside.call('write'), { text: 'written' })
  t.match(await inside.request('prompts/get', { name: 'review' }), { messages: [{ content: { text: 'review' } }] })
  t.match(
    await inside.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: '' }
    }),
    { completion: { values: ['Ada'] } }
  )
  t.match(await inside.request('resources/read', { uri: 'repo://file/x' }), { contents: [{ text: 'read' }] })
})

t.test(
  'a view cannot have the name of a server, of a URL of the gateway, or a name that is no part of a URL',
  async t => {
    const { entry } = await openFixture(t, 'stdio', newestLegacy)
    await t.rejects(gateway(t, { tools: false, mcpServers: { Fixture: entry }, views: { fixture: {} } }), {
      message:
        'option views.fixture and the upstream server "Fixture" would both be served at /mcp/fixture; rename one of them'
    })
    await t.rejects(gateway(t, { views: { sse: {} } }), {
      message: /option views\.sse cannot have this name, because \/mcp\/sse is a URL of the gateway/
    })
    await t.rejects(gateway(t, { views: { 'My view': {} } }), {
      message: /option views\.My view cannot have this name: it is made of up to 32 lower-case letters/
    })
    await t.rejects(gateway(t, { views: { a: { tools: 'b' } } } as unknown as Partial<Options>), {
      message: /option views\.a\.tools must be a list of names or globs/
    })
    await t.rejects(gateway(t, { views: { a: { tool: ['b'] } } } as unknown as Partial<Options>), {
      message: /option views\.a has no "tool"; did you mean "tools"\?/
    })
  }
)

t.test('a pattern that matches nothing is logged with the nearest name, when the lists are known', async t => {
  const { lines, server } = logged('warn')
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const views = {
    a: { servers: ['fixtrue'], tools: ['fixture__ehco', 'fixture__*', 'calcualte'], exclude: ['nothing*'] }
  }
  const app = await gateway(t, { tools: false, plugins: [own], mcpServers: { fixture: entry }, views }, server)
  const sentences = (): string[] => lines.map(({ msg }) => String(msg))
  t.notMatch(sentences().join('\n'), /ehco/, 'not before they are known')
  await until(() => sentences().some(line => line.includes('ehco')), 'the warning')
  const about = sentences().filter(line => line.startsWith('option views'))
  t.strictSame(about.sort(), [
    'option views.a.exclude has "nothing*", which matches nothing',
    'option views.a.servers has "fixtrue", which matches nothing; did you mean "fixture"?',
    'option views.a.tools has "calcualte", which matches nothing; did you mean "calculate"?',
    'option views.a.tools has "fixture__ehco", which matches nothing; did you mean "fixture__echo"?'
  ])
  t.ok((await names(await createClient(app, { view: 'a' }))).includes('fixture__echo'))
})

t.test('clients of a view get its instructions, or those of the servers that it has things of', async t => {
  const { client } = await curated(
    t,
    { own: { instructions: 'For releases.' }, docs2: { servers: ['docs'] }, local: { tools: ['write'] } },
    { instructions: 'Of the gateway.' }
  )
  const told = async (view: string): Promise<unknown> => (await client({ view })).server['instructions']
  t.equal(await told('own'), 'For releases.')
  t.match(await told('docs2'), /^Of the gateway\.\n\n## docs\n\nWords of docs\.$/)
  t.equal(await told('local'), 'Of the gateway.')
})

t.test('the scopes of a view are needed for everything in it, besides its own', async t => {
  const { client } = await curated(t, {
    release: { scopes: ['release'], names: 'short', exclude: ['docs__search'], instructions: 'Secret words.' }
  })
  const as = async (...scopes: string[]): Promise<Client> =>
    await client({ view: 'release', identity: { principal: 'ada', scopes: new Set(scopes) } })
  const [without, only, both] = [await as('mcp'), await as('release'), await as('mcp', 'release')]
  for (const client of [without, only]) {
    t.strictSame(await all(client), { tools: [], prompts: [], resources: [], templates: [] })
    await t.rejects(client.call('search'), { message: /Unknown tool: search$/ })
    await t.rejects(client.read('own://text'), { code: -32002 })
  }
  t.equal(without.server['instructions'], undefined)
  t.equal(both.server['instructions'], 'Secret words.')
  t.strictSame(await names(both), ['calculate', 'create_issue', 'delete_repo', 'lookup', 'search', 'write'])
  t.match(await both.call('search'), { text: 'search' })
})

t.test('a change is announced to the clients of views that contain it, and to no others', async t => {
  const {
    app,
    client,
    upstreams: [hub]
  } = await curated(t, { hub: { servers: ['github'] }, pages: { servers: ['docs'] }, reading: { readOnly: true } })
  const [inHub, inPages, inReading] = [
    await client({ view: 'hub' }),
    await client({ view: 'pages' }),
    await client({ view: 'reading' })
  ]
  const heard = (client: Client): string[] => client.notifications.map(({ method }) => method)
  if (hub !== undefined) hub.script.tools = [tool('search', readOnly), tool('new_one')]
  hub?.connection.emit(LIST_CHANGED)
  await inHub.notified(LIST_CHANGED)
  t.strictSame(await names(inHub), ['github__new_one', 'github__search'])
  app.mcp.tools.add(
    localTool({ name: 'later', description: '', annotations: { readOnlyHint: true }, run: () => 'later' })
  )
  await inReading.notified(LIST_CHANGED)
  t.ok((await names(inReading)).includes('later'))
  await inPages.request('ping')
  t.strictSame(heard(inPages), [])
  t.strictSame(heard(inReading), [], 'once')
  t.strictSame(heard(inHub), [], 'once')
})

t.test('a resource that is updated is announced in the views that have it', async t => {
  const { app, client } = await curated(t, { own: { resources: ['own://*'] }, hub: { servers: ['github'] } })
  const [inOwn, inHub] = [await client({ view: 'own' }), await client({ view: 'hub' })]
  await inOwn.request('resources/subscribe', { uri: 'own://text' })
  await t.rejects(inHub.request('resources/subscribe', { uri: 'own://text' }), { code: -32002 })
  app.mcp.resources.updated('own://text')
  t.match(await inOwn.notified('notifications/resources/updated'), { uri: 'own://text' })
})

t.test('a change behind a template is announced in the views that list what is behind one', async t => {
  const notes = resource({ uri: 'note:///{id}', name: 'note', list: () => [], read: () => '' })
  const views = { all: {}, tools: { tools: ['*'] }, out: { exclude: ['note:*'] } }
  const app = await gateway(t, { tools: false, plugins: [async ({ mcp }) => mcp.resources.add(notes)], views })
  const clients = await Promise.all(Object.keys(views).map(async view => await createClient(app, { view })))
  await announced()
  for (const client of clients) client.notifications.length = 0
  app.mcp.resources.listChanged()
  await clients[0]?.notified('notifications/resources/list_changed')
  for (const client of clients) await client.request('ping')
  t.strictSame(
    clients.map(({ notifications: { length } }) => length),
    [0, 0, 0]
  )
})

t.test('views are changed and removed while clients are connected', async t => {
  const { app, client } = await curated(t, { a: { tools: ['write'] }, b: { tools: ['calculate'] } })
  const [inA, inB] = [await client({ view: 'a' }), await client({ view: 'b' })]
  await app.mcp.curation.configure({
    a: { tools: ['write', 'calculate'] },
    b: { tools: ['calculate'], description: 'another text' }
  })
  await inA.notified(LIST_CHANGED)
  t.strictSame(await names(inA), ['calculate', 'write'])
  t.match(await inA.call('calculate'), { text: '4' })
  await app.mcp.curation.configure({ b: { tools: ['calculate'] } })
  await inA.notified(LIST_CHANGED)
  t.strictSame(await all(inA), { tools: [], prompts: [], resources: [], templates: [] })
  await t.rejects(inA.call('write'), { message: /Unknown tool: write$/ })
  t.strictSame(inB.notifications, [], 'a view in which nothing changed announces nothing')
  await app.mcp.curation.configure({ a: {} })
  await inB.notified(LIST_CHANGED)
  t.equal((await names(inA)).length, 7)
})

t.test('a template of a view does not serve the URIs that the view excludes', async t => {
  const items = ['a', 'b', 'hidden', 'z']
  const notes = resource({
    uri: 'note:///{id}',
    name: 'note',
    list: after =>
      items.map(id => ({ uri: `note:///${id}`, name: id })).filter(({ uri }) => after === undefined || uri > after),
    read: ({ id }) => `note ${id}`
  })
  const app = await gateway(t, {
    tools: false,
    plugins: [async ({ mcp }) => mcp.resources.add(notes)],
    views: { some: { exclude: ['note:///h*'] } },
    pageSize: 2
  })
  const client = await createClient(app, { view: 'some' })
  t.strictSame(await listed(client, 'resources/list', 'resources', 'uri'), ['note:///a', 'note:///b', 'note:///z'])
  t.match(await client.read('note:///a'), { text: 'note a' })
  await t.rejects(client.read('note:///hidden'), { code: -32002 })
})

t.test('a resource that a result links to is read in the views that have its server', async t => {
  const app = await gateway(t, { tools: false, views: { in: { servers: ['links'] }, out: { tools: ['links__*'] } } })
  const links = new FakeUpstream('links', {
    tools: [tool('link')],
    resources: [],
    answers: { 'tools/call': () => ({ content: [{ type: 'resource_link', uri: 'linked://x', name: 'x' }] }) }
  })
  const { connect, client } = await served(t, [links], {}, app)
  await connect(links)
  const [inside, outside] = [await client({ view: 'in' }), await client({ view: 'out' })]
  for (const each of [inside, outside]) {
    t.match(await each.request('tools/call', { name: 'links__link' }), { content: [{ uri: 'linked://x' }] })
  }
  t.match(await inside.request('resources/read', { uri: 'linked://x' }), { contents: [{ text: 'read' }] })
  await t.rejects(outside.request('resources/read', { uri: 'linked://x' }), { code: -32002 })
})

t.test('a cursor of a view is refused in another, and pages stay the same while another view changes', async t => {
  const { app, client } = await curated(t, { a: { servers: ['github'] }, b: {} }, { pageSize: 2 })
  const [inA, inB] = [await client({ view: 'a' }), await client({ view: 'b' })]
  const { nextCursor } = await inA.request('tools/list')
  await t.rejects(inB.request('tools/list', { cursor: nextCursor }), { code: -32602 })
  app.mcp.tools.add(localTool({ name: 'aaa', description: '', run: () => '' }))
  t.match(await inA.request('tools/list', { cursor: nextCursor }), { tools: [{ name: 'github__search' }] })
})

t.test('audit log, metrics, rates, scopes and watchers know a tool by its canonical name', async t => {
  const { lines, server } = logged('info')
  const app = await gateway(
    t,
    {
      tools: false,
      audit: true,
      metrics: true,
      toolRates: { github__create_issue: 1 },
      scopes: { 'tools/github__delete_repo': ['danger'] },
      views: { short: { names: 'short' } }
    },
    server
  )
  const hub = github()
  const { connect, client } = await served(t, [hub], {}, app)
  await connect(hub)
  const inside = await client({ view: 'short', identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  const watcher = await Watcher.open(t, app)
  await inside.call('search')
  t.match(
    lines.findLast(line => 'audit' in line),
    { audit: { tool: 'github__search', upstream: 'github', outcome: 'ok' } }
  )
  t.match((await app.inject('/metrics')).body, /gen_ai_tool_name="github__search"/)
  t.notMatch((await app.inject('/metrics')).body, /gen_ai_tool_name="search"/)
  await until(() => JSON.stringify(watcher.ended).includes('github__search'), 'the watch feed')
  t.notOk((await names(inside)).includes('delete_repo'))
  const outcomes = [1, 2, 3, 4].map(
    async () =>
      await inside.call('create_issue').then(
        () => 'ok',
        (error: Error) => error.message
      )
  )
  t.ok(
    (await Promise.all(outcomes)).some(outcome => /rate|too many/i.test(outcome)),
    'the rate of the canonical name'
  )
})

t.test('two views of one server start it once', async t => {
  const { server, entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await gateway(t, {
    tools: false,
    mcpServers: { fixture: entry },
    views: { a: { servers: ['fixture'] }, b: { tools: ['fixture__*'], names: 'short' } }
  })
  const [inA, inB] = [await createClient(app, { view: 'a' }), await createClient(app, { view: 'b' })]
  t.ok((await names(inA)).includes('fixture__echo'), 'a list waits for the first lists of its servers')
  t.ok((await names(inB)).includes('echo'))
  await inA.call('fixture__echo', { text: 'one' })
  await inB.call('echo', { text: 'two' })
  t.equal(server.conversations.size, 1)
})

t.test('a call by a short name waits for the servers of the view that were never read', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await gateway(t, { tools: false, mcpServers: { fixture: entry }, views: { short: { names: 'short' } } })
  const client = await createClient(app, { view: 'short' })
  t.match(await client.call('echo', { text: 'early' }), { text: /early/ })
})

t.test('a change of one tool among many is one change in each view that has it, and in no other', async t => {
  const views = { long: {}, short: { names: 'short' as const }, other: { servers: ['nowhere'] } }
  const app = await gateway(t, { tools: false, plugins: [], views })
  const relayed = (ownName: string, description: string) => {
    const name = `one__${ownName}`
    return { ...localTool({ name, description, run: () => '' }), ownName, upstream: 'one', scopeNames: [name] }
  }
  const tools = Array.from({ length: 100 }, (_, index) => relayed(`tool_${index}`, ''))
  app.mcp.tools.relay([], tools)
  const heard: unknown[] = []
  for (const view of Object.keys(views)) {
    app.mcp.views.get(view)?.tools.source.onItems(({ removed, put }) => {
      heard.push([view, removed.map(({ name }) => name), put.map(({ name }) => name)])
    })
  }
  app.mcp.tools.relay([tools[7] as never], [relayed('tool_7', 'another text')])
  t.strictSame(heard.splice(0), [
    ['long', ['one__tool_7'], ['one__tool_7']],
    ['short', ['tool_7'], ['tool_7']]
  ])
  app.mcp.tools.relay([], [relayed('late', '')])
  t.strictSame(heard.splice(0), [
    ['long', [], ['one__late']],
    ['short', [], ['late']]
  ])
  app.mcp.tools.add(localTool({ name: 'late', description: '', run: () => '' }))
  t.strictSame(heard.splice(0), [
    ['long', [], ['late']],
    ['short', ['late'], ['one__late', 'late']]
  ])
})
