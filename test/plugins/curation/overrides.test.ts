import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createClient, tool as localTool, type Client, type Options } from '../../../app.js'
import type { ToolOverrides } from '../../../protocol/definitions/overrides/override.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/specification/message.js'
import { newestLegacy, revisions } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'
import { Watcher } from '../../support/watcher.js'
import { openFixture } from '../../upstreams/fixture/open.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { listed, served, tool, type Served } from '../../upstreams/lists/served.js'

const LIST_CHANGED = 'notifications/tools/list_changed'

const schemaOf = (names: string[]): Json => ({
  type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])), required: names
})

const search = (override?: ToolOverrides): FakeUpstream => new FakeUpstream(
  'search',
  {
    tools: [
      tool('find', {
        inputSchema: schemaOf(['index', 'q', 'sort']), description: 'Finds', annotations: { readOnlyHint: true }
      }),
      tool('drop', { inputSchema: schemaOf(['index']) })
    ]
  },
  override === undefined ? {} : { override }
)

const sum = localTool({
  name: 'sum',
  description: 'Adds',
  input: Type.Object({ a: Type.Number(), b: Type.Number(), unit: Type.String() }, { additionalProperties: false }),
  output: Type.Object({ sum: Type.Number(), unit: Type.String() }),
  text: ({ sum, unit }, { a }) => `${a} and more is ${sum} ${unit}`,
  run: ({ a, b, unit }) => ({ sum: a + b, unit })
})

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(sum)
}

/** A gateway with one upstream, a tool of its own, and these views. */
async function curated (
  t: Test,
  views: Options['views'],
  upstream = search(),
  options: Partial<Options> = {}
): Promise<Served> {
  const app = await gateway(t, { tools: false, plugins: [own], views, ...options })
  const place = await served(t, [upstream], {}, app)
  await place.connect(upstream)
  return place
}

/** The arguments of the latest call that reached the server. */
const received = ({ connection }: FakeUpstream): unknown => connection.of('tools/call').at(-1)?.params.arguments

const names = async (client: Client): Promise<unknown[]> => await listed(client, 'tools/list', 'tools', 'name')

async function toolOf (client: Client, name: string): Promise<Json> {
  const { tools } = await client.request('tools/list') as { tools: Json[] }
  return tools.find(tool => tool.name === name) ?? {}
}

t.test('a view gives a tool another name and look, and other views do not', async t => {
  const upstream = search()
  const { client } = await curated(t, {
    users: {
      override: {
        search__find: {
          name: 'find_users',
          title: 'Users',
          description: 'Finds users',
          annotations: { openWorldHint: false },
          _meta: { a: 1 },
          arguments: {
            index: { value: 'users' },
            q: { name: 'query', description: 'Words' },
            sort: { default: 'name' }
          }
        }
      }
    },
    plain: {}
  }, upstream)
  const [inside, outside] = [await client({ view: 'users' }), await client({ view: 'plain' })]
  t.strictSame(await names(inside), ['find_users', 'search__drop', 'sum'])
  t.strictSame(await names(outside), ['search__drop', 'search__find', 'sum'])
  t.strictSame(await toolOf(inside, 'find_users'), {
    name: 'find_users',
    title: 'Users',
    description: 'Finds users',
    annotations: { readOnlyHint: true, openWorldHint: false },
    _meta: { a: 1 },
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'Words' }, sort: { type: 'string', default: 'name' } },
      required: ['query']
    }
  })
  t.match(await inside.call('find_users', { query: 'Ada' }), { text: 'find' })
  t.strictSame(received(upstream), { index: 'users', q: 'Ada', sort: 'name' })
  t.match(await inside.call('search__find', { query: 'Ada' }), { text: 'find' }, 'the name on /mcp is understood')
  await t.rejects(inside.call('find_users', { query: 'Ada', index: 'x' }), { code: -32602 })
  await t.rejects(outside.call('find_users', { query: 'Ada' }), { message: /Unknown tool: find_users/ })
  await outside.call('search__find', { index: 'x', q: 'y', sort: 'z' })
  t.strictSame(received(upstream), { index: 'x', q: 'y', sort: 'z' })
})

t.test('a view and the entry of the server are merged field by field, and the view wins', async t => {
  const upstream = search({
    find: {
      name: 'look',
      title: 'Of the server',
      description: 'Of the server',
      annotations: { readOnlyHint: false, idempotentHint: true },
      arguments: {
        index: { value: 'all' },
        q: { name: 'words', description: 'Of the server' },
        sort: { value: 'date' }
      }
    }
  })
  const { client } = await curated(t, {
    both: {
      override: {
        search__find: {
          description: 'Of the view',
          annotations: { readOnlyHint: true },
          arguments: { index: { value: 'users' }, q: { name: 'query' } }
        }
      }
    },
    short: { names: 'short' }
  }, upstream)
  const inside = await client({ view: 'both' })
  t.match(await toolOf(inside, 'search__look'), {
    title: 'Of the server',
    description: 'Of the view',
    annotations: { readOnlyHint: true, idempotentHint: true },
    inputSchema: { properties: { query: { description: 'Of the server' }, words: undefined }, required: ['query'] }
  })
  await inside.call('search__look', { query: 'Ada' })
  t.strictSame(received(upstream), { index: 'users', q: 'Ada', sort: 'date' })
  t.strictSame(await names(await client({ view: 'short' })), ['drop', 'look', 'sum'], 'short is the new name')
})

t.test('a tool of the gateway itself is overridden in a view', async t => {
  const override = {
    sum: { name: 'add', arguments: { a: { name: 'first' }, b: { default: 2 }, unit: { value: 'm' } } }
  }
  const { client, app } = await curated(t, { some: { override }, named: { override: { sum: { name: 'plus' } } } })
  const inside = await client({ view: 'some' })
  t.match((await toolOf(inside, 'add')).inputSchema, {
    properties: { first: { type: 'number' }, b: { default: 2 } }, required: ['first'], additionalProperties: false
  })
  const { text, output } = await inside.call('add', { first: 1 })
  t.strictSame([text, output], ['1 and more is 3 m', { sum: 3, unit: 'm' }])
  for (const { version } of revisions.filter(({ modern }) => !modern)) {
    const caller = await createClient(app, { view: 'some', protocolVersion: version })
    const failure = async (given: Json): Promise<string> => {
      const answer = await caller.request('tools/call', { name: 'add', arguments: given })
        .catch(({ code, message, data }: Json) => ({ code, message, data }))
      return JSON.stringify(answer)
    }
    t.match(await failure({ first: 1, unit: 'km' }), /"code":-32602.*\\"unit\\" is set by the operator/, version)
    t.match(await failure({ first: 'one' }), /arguments of add: first must be number/, 'in the names of the caller')
    t.match(await failure({ first: 'one' }), /"path":"\/first"/)
    t.match(await failure({ a: 1 }), /there is no argument \\"a\\"; did you mean \\"first\\"/)
    caller.close()
  }
  const plus = await client({ view: 'named' })
  t.match(await plus.request('tools/call', { name: 'plus', arguments: {} }), {
    content: [{ text: /arguments of plus: "a" is missing/ }], isError: true
  })
})

t.test('readOnly counts the annotations of overrides', async t => {
  const { client } = await curated(t, {
    more: { readOnly: true, override: { sum: { annotations: { readOnlyHint: true } } } },
    less: { readOnly: true, override: { search__find: { annotations: { readOnlyHint: false } } } }
  })
  t.strictSame(await names(await client({ view: 'more' })), ['search__find', 'sum'])
  t.strictSame(await names(await client({ view: 'less' })), [])
})

/** A logger, and what it was given. */
function recorder (): { lines: Json[], loggerInstance: ReturnType<typeof pino> } {
  const lines: Json[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => { lines.push(JSON.parse(String(chunk)) as Json); done() }
  })
  return { lines, loggerInstance: pino({ level: 'trace' }, out) }
}

t.test('a name that two tools would have refuses the start, or is told if it is found out later', async t => {
  const twice = async ({ mcp }: FastifyInstance): Promise<void> => {
    for (const name of ['one', 'two']) mcp.tools.add(localTool({ name, description: '', run: () => name }))
  }
  const views = { a: { override: { one: { name: 'two' } } } }
  await t.rejects(gateway(t, { tools: false, plugins: [twice], views }), {
    message: 'option views.a has an override, and "one" and "two" would both be called "two"; ' +
      'exclude one of them, or choose another name'
  })
  await t.resolves(gateway(t, { tools: false, plugins: [twice], views: { a: { ...views.a, exclude: ['two'] } } }))
  const { lines, loggerInstance } = recorder()
  const taken = { a: { resourcesAsTools: true, override: { one: { name: 'read_resource' } } } }
  await gateway(t, { tools: false, plugins: [twice], views: taken }, { loggerInstance })
  t.match(lines.map(({ msg }) => msg).join('\n'), /views\.a\.override\.one: it keeps its name, because the view itself has/)
  const later = { a: { override: { search__find: { name: 'sum' } } } }
  const app = await gateway(t, { tools: false, plugins: [own], views: later }, { loggerInstance })
  const upstream = search()
  const { connect, client } = await served(t, [upstream], {}, app)
  await connect(upstream)
  const inside = await client({ view: 'a' })
  t.strictSame(await names(inside), ['search__drop', 'search__find', 'sum'])
  t.match(await inside.call('search__find', {}), { text: 'find' })
  t.match((await app.inject('/health')).json(), {
    parts: { 'view a': 'a name would be that of several things, which keep their names' },
    clashes: { a: ['"sum" and "search__find" would both be called "sum", and keep their names'] }
  })
  t.equal(lines.filter(({ msg }) => /view a: .* called "sum", .*; exclude one of them, or choose another name/.test(String(msg))).length, 1)
})

t.test('what matches nothing is logged with the nearest name', async t => {
  const { lines, loggerInstance } = recorder()
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const views = {
    a: {
      override: {
        fixture__ehco: { title: 'x' }, fixture__echo: { arguments: { txt: { name: 'y' } } }, summ: {}, sum: {}
      }
    }
  }
  await gateway(t, { tools: false, plugins: [own], mcpServers: { fixture: entry }, views }, { loggerInstance })
  const told = (): string[] => lines.map(({ msg }) => String(msg)).filter(msg => msg.startsWith('option views'))
  await until(() => told().length === 3, 'the warnings')
  t.strictSame(told().sort(), [
    'option views.a.override has "fixture__ehco", which matches nothing; did you mean "fixture__echo"?',
    'option views.a.override has "summ", which matches nothing; did you mean "sum"?',
    'option views.a.override.fixture__echo: arguments has "txt", which is none of its arguments; did you mean "text"?'
  ])
})

const SECRET = 'hunter2-of-the-view'

t.test('a fixed value may be a variable, and is in no list, log, audit line, metric or watch feed', async t => {
  process.env['OVERRIDE_SECRET'] = SECRET
  t.teardown(() => { delete process.env['OVERRIDE_SECRET'] })
  const { lines, loggerInstance } = recorder()
  const value = { token: '${OVERRIDE_SECRET}', n: [1] } // eslint-disable-line no-template-curly-in-string
  const views = {
    a: { override: { search__find: { name: 'find_users', arguments: { index: { value }, q: { value: 'x' } } } } }
  }
  const app = await gateway(t, { tools: false, audit: true, metrics: true, views }, { loggerInstance })
  const upstream = search()
  const { connect, client } = await served(t, [upstream], {}, app)
  await connect(upstream)
  const inside = await client({ view: 'a' })
  const watcher = await Watcher.open(t, app)
  t.notMatch(JSON.stringify(await toolOf(inside, 'find_users')), /index|hunter2/)
  await inside.call('find_users', { sort: 'name' })
  await inside.call('find_users', { index: SECRET }).catch(() => {})
  t.strictSame(upstream.connection.of('tools/call').map(({ params }) => params.arguments), [
    { index: { token: SECRET, n: [1] }, q: 'x', sort: 'name' }
  ])
  await until(() => JSON.stringify(watcher.ended).includes('search__find'), 'the watch feed')
  const metrics = (await app.inject('/metrics')).body
  t.match(metrics, /gen_ai_tool_name="search__find"/)
  t.notMatch(metrics, /find_users/)
  const audited = lines.map(({ audit = {} }) => audit as Json).filter(({ tool }) => tool !== undefined)
  t.match(audited[0], { tool: 'search__find', upstream: 'search', outcome: 'ok' })
  t.notMatch(JSON.stringify([lines, metrics, watcher.batches]), /hunter2/)
})

t.test('a variable without a value refuses the start and says where it is', async t => {
  const value = '${NO_SUCH_VARIABLE}' // eslint-disable-line no-template-curly-in-string
  const views = { a: { override: { x: { arguments: { y: { value } } } } } }
  await t.rejects(gateway(t, { tools: false, views }), {
    message: 'option views.a.override.x.arguments.y.value ' +
      'needs the environment variable NO_SUCH_VARIABLE, which is not set'
  })
  const wrong = (override: object): Promise<unknown> =>
    gateway(t, { tools: false, views: { a: { override } } as Options['views'] })
  await t.rejects(wrong({ x: { argments: {} } }), {
    message: 'option views.a.override.x has no "argments"; did you mean "arguments"?'
  })
  await t.rejects(wrong({ x: { arguments: { y: { value: 1, required: true } } } }), {
    message: /views\.a\.override\.x\.arguments\.y has a value/
  })
})

t.test('overrides of a view are changed while clients are connected, who hear of it', async t => {
  const { client, app } = await curated(t, { a: {}, b: {} })
  const [inA, inB] = [await client({ view: 'a' }), await client({ view: 'b' })]
  // Changes of the start are announced in the next turn.
  await setImmediate()
  for (const each of [inA, inB]) each.notifications.length = 0
  await app.mcp.curation.configure({ a: { override: { sum: { name: 'add' } } }, b: {} })
  await inA.notified(LIST_CHANGED)
  t.strictSame(await names(inA), ['add', 'search__drop', 'search__find'])
  await inB.request('ping')
  t.strictSame(inB.notifications, [])
  await app.mcp.curation.configure({ a: {}, b: {} })
  await inA.notified(LIST_CHANGED)
  t.strictSame(await names(inA), ['search__drop', 'search__find', 'sum'])
})

t.test('scopes, narrowing and suggestions know an overridden tool by both names', async t => {
  const views = { a: { override: { search__find: { name: 'find_users', annotations: { readOnlyHint: false } } } } }
  const { client, app } = await curated(t, views, search(), { scopes: { 'tools/search__find': ['find'] } })
  const as = async (...scopes: string[]): Promise<Client> =>
    await client({ view: 'a', identity: { principal: 'ada', scopes: new Set(['mcp', ...scopes]) } })
  t.notOk((await names(await as())).includes('find_users'))
  await t.rejects((await as()).call('find_user'), { message: /Unknown tool: find_user$/ })
  await t.rejects((await as('find')).call('find_user'), { message: /did you mean "find_users"/ })
  const list = async (query: string): Promise<unknown[]> => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    const reply = await app.inject({ method: 'POST', url: `/message/a?${query}`, payload: body })
    return reply.json<{ result: { tools: Json[] } }>().result.tools.map(({ name }) => name)
  }
  t.strictSame(await list('tools=find_users'), ['find_users'])
  t.strictSame(await list('tools=search__find'), ['find_users'])
  t.strictSame(await list('readonly'), [])
})

t.test('options for the results of one tool win over those of its view and server', async t => {
  const long = 'x'.repeat(5_000)
  const upstream = new FakeUpstream('big', {
    tools: [tool('one', { outputSchema: { type: 'object' } }), tool('two')],
    answers: { 'tools/call': () => ({ content: [{ type: 'text', text: long }] }) }
  }, { override: { one: { name: 'first', results: { max: 100_000 } } }, results: { max: 1_000 } })
  const views = { some: { results: { max: 100_000 }, override: { big__one: { results: { max: 2_000 } } } } }
  const { client } = await curated(t, views, upstream)
  const length = async (view: string | undefined, name: string): Promise<number> => {
    const { content } = await (await client(view === undefined ? {} : { view })).request('tools/call', { name })
    return ((content as Json[])[0]?.text as string).length
  }
  t.equal(await length(undefined, 'big__first'), long.length, 'the tool wins over its server')
  t.ok(await length(undefined, 'big__two') < 1_500)
  t.ok(await length('some', 'big__first') < 2_500, 'and over its view')
  t.equal(await length('some', 'big__two'), long.length)
  t.notOk('outputSchema' in await toolOf(await client({ view: 'some' }), 'big__first'))
})

t.test('a call by a new name waits for the servers of the view that were never read', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const views = { a: { override: { fixture__echo: { name: 'repeat', arguments: { text: { name: 'words' } } } } } }
  const app = await gateway(t, { tools: false, mcpServers: { fixture: entry }, views })
  const client = await createClient(app, { view: 'a' })
  t.match(await client.call('repeat', { words: 'early' }), { text: /early/ })
})
