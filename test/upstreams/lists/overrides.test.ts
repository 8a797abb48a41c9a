import t from 'tap'
import { createClient, type Client, type Options } from '../../../app.js'
import type { ToolOverrides } from '../../../protocol/definitions/overrides/override.js'
import { errors } from '../../../protocol/wire/errors.js'
import { gateway } from '../../support/gateway.js'
import type { Json } from '../../support/specification/message.js'
import { openFixture } from '../fixture/open.js'
import { inFrontOf, upstreamsReady } from '../../support/upstreams.js'
import { recordSpans } from '../../support/tracing.js'
import { modern, newestLegacy } from '../../support/specification/revisions.js'
import { FakeUpstream, type Script } from './fake-upstream.js'
import { served, tool, toolNames } from './served.js'

const inputSchema = {
  type: 'object',
  properties: { index: { type: 'string' }, limit: { type: 'integer' }, q: { type: 'string' } },
  required: ['index', 'limit', 'q'],
  additionalProperties: false
}

const documents = (): Json => tool('get-documents', {
  inputSchema,
  title: 'Documents',
  description: 'Finds documents',
  annotations: { readOnlyHint: true },
  _meta: { kept: 1 }
})

const override: ToolOverrides = {
  'get-documents': {
    name: 'get_users',
    title: 'Users',
    description: 'Finds users',
    annotations: { destructiveHint: false },
    _meta: { 'example.com/max': 200_000 },
    arguments: {
      index: { value: 'users' },
      limit: { default: 50, description: 'How many at most' },
      q: { name: 'query' }
    }
  }
}

const search = (overrides: ToolOverrides = override, script: Script = {}): FakeUpstream =>
  new FakeUpstream('search', { tools: [documents(), tool('health')], ...script }, { override: overrides })

async function toolOf (client: Client, name: string): Promise<Json | undefined> {
  return (await client.request('tools/list') as { tools: Json[] }).tools.find(tool => tool.name === name)
}

t.test('a tool is listed as the entry of its server says, on /mcp and on the URL of the server', async t => {
  const upstream = search()
  const { client, connect } = await served(t, [upstream])
  await connect(upstream)
  t.strictSame(await toolNames(await client()), ['search__get_users', 'search__health'])
  const expected = {
    title: 'Users',
    description: 'Finds users',
    annotations: { readOnlyHint: true, destructiveHint: false },
    _meta: { kept: 1, 'example.com/max': 200_000 },
    inputSchema: {
      type: 'object',
      properties: {
        limit: { type: 'integer', description: 'How many at most', default: 50 },
        query: { type: 'string' }
      },
      required: ['query'],
      additionalProperties: false
    }
  }
  t.strictSame(await toolOf(await client(), 'search__get_users'), { name: 'search__get_users', ...expected })
  t.strictSame(await toolOf(await client({ view: 'search' }), 'get_users'), { name: 'get_users', ...expected })
})

t.test('the server gets its own names, with what is fixed and what the caller left out', async t => {
  const upstream = search()
  const { client, connect } = await served(t, [upstream])
  await connect(upstream)
  const [whole, own] = [await client(), await client({ view: 'search' })]
  const calls: Array<[Client, string, Json, Json]> = [
    [whole, 'search__get_users', { query: 'Ada' }, { index: 'users', limit: 50, q: 'Ada' }],
    [whole, 'search__get_users', { query: 'Ada', limit: 3 }, { index: 'users', limit: 3, q: 'Ada' }],
    [whole, 'search__get-documents', { query: '' }, { index: 'users', limit: 50, q: '' }],
    [own, 'get_users', {}, { index: 'users', limit: 50 }],
    [own, 'get-documents', { other: 1 }, { index: 'users', limit: 50, other: 1 }]
  ]
  for (const [who, name, given, expected] of calls) {
    t.match(await who.call(name, given), { text: 'get-documents' })
    const { params } = upstream.connection.of('tools/call').at(-1) ?? {}
    t.strictSame([params?.name, params?.arguments], ['get-documents', expected], name)
  }
})

t.test('arguments that callers do not have are refused, and the server hears nothing', async t => {
  const upstream = search({
    'get-documents': {
      arguments: { index: { value: 's3cr3t-value' }, q: { name: 'query' }, limit: { required: true } }
    }
  })
  const { client, connect } = await served(t, [upstream])
  await connect(upstream)
  const inside = await client()
  const refused = async (given: Json): Promise<unknown> =>
    await inside.call('search__get-documents', given).catch((error: unknown) => error)
  t.match(await refused({ index: 'other', query: '', limit: 1 }), {
    code: -32602, message: /the argument "index" is set by the operator/, data: { code: 'PATCHBAY_FIXED_ARGUMENT' }
  })
  t.match(await refused({ index: 's3cr3t-value', query: '', limit: 1 }), { code: -32602 }, 'with the same value, too')
  t.match(await refused({ q: '', limit: 1 }), {
    code: -32602, message: /there is no argument "q"; did you mean "query"\?/, data: { errors: [{ path: '/q' }] }
  })
  t.match(await refused({ query: '' }), {
    code: -32602, message: /"limit" is missing/, data: { errors: [{ path: '/limit' }] }
  })
  t.strictSame(upstream.connection.of('tools/call'), [])
})

t.test('mistakes that the server names one by one have the names that callers know', async t => {
  const refuse = (): never => {
    throw errors.wrongArguments('arguments: q must be string', [{ path: '/q/0', message: 'must be string' }])
  }
  const upstream = search(override, { answers: { 'tools/call': refuse } })
  const { client, connect } = await served(t, [upstream])
  await connect(upstream)
  await t.rejects((await client()).call('search__get_users', { query: [3] }), {
    code: -32602, data: { errors: [{ path: '/query/0', message: 'must be string' }] }
  })
})

t.test('a new name that another tool has is not used, which the log and the status tell', async t => {
  const upstream = search({ 'get-documents': { name: 'health', description: 'Still changed' } })
  const { client, connect, lists, logged } = await served(t, [upstream])
  await connect(upstream)
  const inside = await client()
  t.strictSame(await toolNames(inside), ['search__get-documents', 'search__health'])
  t.match(await toolOf(inside, 'search__get-documents'), { description: 'Still changed' })
  t.match(await inside.call('search__health'), { text: 'health' })
  const sentence = /tools "get-documents" and "health" would both be called "search__health", and keep their own names/
  t.match(lists.statusOf('search').warnings, [sentence])
  t.match(logged, [{ warnings: [sentence] }])
})

t.test('no tool gets the name that operators have for another, though that is called otherwise', async t => {
  const upstream = search({ 'get-documents': { name: 'health' }, health: { name: 'get-documents' } })
  const { client, connect, lists } = await served(t, [upstream])
  await connect(upstream)
  const inside = await client()
  t.match(await inside.call('search__health'), { text: 'health' })
  t.match(await inside.call('search__get-documents'), { text: 'get-documents' })
  t.equal(lists.statusOf('search').warnings.length, 2)
})

t.test('what matches nothing is logged with the nearest name', async t => {
  const upstream = search({
    'get-document': { title: 'x' },
    'get-documents': { arguments: { indx: { value: 1 }, limit: { value: 'many' }, q: { name: 'index' } } }
  })
  const { connect, sentences, client } = await served(t, [upstream])
  await connect(upstream)
  t.strictSame(sentences.filter(sentence => sentence.includes('override')), [
    'a test: server "search": override has "get-document", which is none of its tools; did you mean "get-documents"?',
    ...[
      'the argument "q" keeps its name, because another one would be called "index", too',
      'arguments has "indx", which is none of its arguments; did you mean "index"?',
      'the value for the argument "limit" is none that the tool allows'
    ].map(problem => `a test: server "search": override of "get-documents": ${problem}`)
  ])
  t.match(await (await client()).call('search__get-documents', {}), { text: 'get-documents' }, 'it is served')
})

t.test('scopes, rates and the audit log keep the name that the tool has without the override', async t => {
  const upstream = search()
  const options: Partial<Options> = { tools: false, scopes: { 'tools/search__get-documents': ['documents'] } }
  const { client, connect, app } = await served(t, [upstream], {}, await gateway(t, options))
  await connect(upstream)
  const ended: unknown[] = []
  app.mcp.onEnd(call => ended.push(call.target?.accessName))
  const as = async (scope: string): Promise<Client> =>
    await client({ identity: { principal: 'ada', scopes: new Set(['mcp', scope]) } })
  t.strictSame(await toolNames(await as('other')), ['search__health'])
  await t.rejects((await as('other')).call('search__get_users', { query: '' }), {
    message: /Unknown tool: search__get_users/
  })
  t.match(await (await as('documents')).call('search__get_users', { query: '' }), { text: 'get-documents' })
  t.equal(ended.at(-1), 'search__get-documents')
})

t.test('other overrides change names while the server is connected, and clients hear of it', async t => {
  const first = search()
  const { client, connect, lists } = await served(t, [first])
  await connect(first)
  const inside = await client()
  const entry = { ...first.entry, override: { health: { name: 'alive' } } }
  Object.assign(first, { entry })
  inside.notifications.length = 0
  await lists.configure([first])
  await inside.notified('notifications/tools/list_changed')
  t.strictSame(await toolNames(inside), ['search__alive', 'search__get-documents'])
  t.match(await inside.call('search__alive'), { text: 'health' })
  t.equal(first.starts, 0, 'nothing is started')
  await lists.configure([first])
  await inside.request('ping')
  t.strictSame(inside.notifications, [], 'the same overrides change nothing')
})

t.test('a fixed value is in no span, log line or answer of the gateway', async t => {
  const spans = recordSpans(t)
  const lines: string[] = []
  const logger = { level: 'trace', stream: { write: (line: string) => { lines.push(line) } } }
  const { entry } = await openFixture(t, 'HTTP', modern, 'mh')
  const value = 'fixed-by-the-operator'
  const arguments_ = { region: { value }, text: { value }, token: { value } }
  const fixed = { arguments: arguments_ }
  const override = { region: fixed, fail: fixed, echo: { arguments: { text: { value } } } }
  const app = await gateway(t, {
    tools: false,
    audit: true,
    mcpServers: { mh: { ...entry, override } },
    views: { own: { override: { mh__refuse: { arguments: { reason: { value } } } } } }
  }, { logger })
  await upstreamsReady(app, ['mh'])
  const client = await createClient(app, { view: 'own' })
  t.teardown(() => client.close())
  for (const name of ['mh__region', 'mh__fail', 'mh__refuse', 'mh__echo']) {
    await client.request('tools/call', { name, arguments: {} }).catch(() => {})
    await client.request('tools/call', { name, arguments: { text: 'a', region: 'b', reason: 'c' } }).catch(() => {})
  }
  t.ok(spans.some(({ name }) => name === 'tools/call mh__region'), spans.map(({ name }) => name).join())
  t.notMatch(JSON.stringify(spans), value)
  t.ok(lines.some(line => line.includes('mh__region')), 'calls are in the log')
  t.notMatch(lines.join(''), value)
  t.notMatch(JSON.stringify(await client.request('tools/list')), value)
})

t.test('headers that repeat arguments have the names and values of the server', async t => {
  const { entry } = await openFixture(t, 'HTTP', modern, 'mh')
  const { entry: other } = await openFixture(t, 'HTTP', modern, 'fixed')
  const { app } = await inFrontOf(t, {
    mh: { ...entry, override: { region: { name: 'where', arguments: { region: { name: 'place' } } } } },
    fixed: { ...other, override: { region: { arguments: { region: { value: 'south' } } } } }
  })
  const client = await createClient(app)
  t.teardown(() => client.close())
  t.match(await client.call('mh__where', { place: 'north' }), { text: 'north' })
  t.match(await client.call('fixed__region', {}), { text: 'south' })
  const { mirrors } = app.mcp.tools.get('mh__where') ?? {}
  t.strictSame(mirrors, [{ header: 'Mcp-Param-Region', path: ['place'] }], 'clients repeat what they send')
  t.strictSame(app.mcp.tools.get('fixed__region')?.mirrors, [])
})

t.test('mistakes in overrides leave the server out, and say where they are', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const mistakesOf = async (overrides: unknown): Promise<string[]> => {
    const app = await gateway(t, { tools: false, mcpServers: { fixture: { ...entry, override: overrides } as object } })
    return app.mcp.upstreams.leftOut().flatMap(({ mistakes }) => mistakes.map(({ text }) => text))
  }
  const place = 'option mcpServers.fixture.override.echo'
  const variable = '${NO_SUCH_VARIABLE}' // eslint-disable-line no-template-curly-in-string
  for (const [overrides, sentence] of [
    ['echo', /^option mcpServers\.fixture\.override must be an object with the tools by name$/],
    [{ echo: { nam: 'x' } }, `${place} has no "nam"; did you mean "name"?`],
    [{ echo: { name: 'a b' } }, `${place}.name must be a name of up to 64 letters, digits, _ and -`],
    [{ echo: { annotations: { readonlyHint: true } } },
      `${place}.annotations has no "readonlyHint"; did you mean "readOnlyHint"?`],
    [{ echo: { arguments: { text: { name: '__proto__' } } } },
      `${place}.arguments.text.name must be a name of up to 64 letters, digits, _ . and -`],
    [{ echo: { arguments: { text: { value: 1, description: 'x' } } } },
      `${place}.arguments.text has a value, which hides the argument, so that description has no meaning`],
    [{ echo: { arguments: { text: { name: 'a' }, other: { name: 'a' } } } },
      `${place}.arguments.other.name is also the name of "text"; give one of them another name`],
    [{ echo: { arguments: { text: { value: variable } } } },
      `${place}.arguments.text.value needs the environment variable NO_SUCH_VARIABLE, which is not set`]
  ] as const) {
    t.match(await mistakesOf(overrides), [sentence])
  }
})
