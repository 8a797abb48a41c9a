import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { createClient, Type, tool as localTool, type Client, type Options } from '../../../app.js'
import type { ServerEntry } from '../../../upstreams/server-entry.js'
import { settable } from '../../support/clocks.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { gateway, listening } from '../../support/gateway.js'
import { ADA, bearer, BOB, listed as key } from '../../support/keys.js'
import type { Json } from '../../support/specification/message.js'
import { until } from '../../support/wait.js'
import { FakeUpstream } from '../../upstreams/lists/fake-upstream.js'
import { listed, served, tool } from '../../upstreams/lists/served.js'
import { overStdio, roads, type Ask } from './roads.js'

const ISSUES = {
  items: Array.from({ length: 400 }, (_, id) => ({ id, title: `größer 😀 ${id}`, body: 'x'.repeat(50) }))
}
const LONG = Array.from({ length: 3_000 }, (_, index) => `line ${index} 😀`).join('\n')
const TEMPLATE = 'patchbay://result/{id}{?offset,length}'
const REFERENCE = { type: 'ref/resource', uri: TEMPLATE }
const PNG = { type: 'image', data: 'A'.repeat(5_000), mimeType: 'image/png' } as const
const EMBEDDED = { type: 'resource', resource: { uri: 'a://b', text: LONG } } as const

const text = (value: string) => ({ type: 'text' as const, text: value })

async function own ({ mcp }: FastifyInstance): Promise<void> {
  mcp.tools.add(localTool({ name: 'long', description: 'Long', run: () => LONG }))
  mcp.tools.add(localTool({ name: 'short', description: 'Short', run: () => 'short' }))
  mcp.tools.add(localTool({
    name: 'issues',
    description: 'Issues',
    output: Type.Object({ items: Type.Array(Type.Object({ id: Type.Integer() })) }),
    run: () => ISSUES
  }))
  mcp.tools.add(localTool({
    name: 'shown',
    description: 'A short text',
    output: Type.Object({}),
    text: () => '400 issues',
    run: () => ISSUES
  }))
  mcp.tools.add(localTool({ name: 'json', description: 'JSON text', run: () => JSON.stringify(ISSUES, null, 2) }))
  const failure = { content: [text(LONG)], isError: true }
  mcp.tools.add(localTool({ name: 'failing', description: 'Fails', run: () => failure }))
  mcp.tools.add(localTool({
    name: 'blocks',
    description: 'Blocks',
    run: () => [PNG, text('a'.repeat(900)), EMBEDDED, text('b'.repeat(900))]
  }))
  mcp.tools.add(localTool({
    name: 'asking',
    description: 'Asks',
    run: async (_, call) => {
      const { action } = await call.elicit('name', {
        message: 'Name?',
        requestedSchema: { type: 'object', properties: {} }
      })
      return `${action} ${LONG}`
    }
  }))
}

interface Result extends Json {
  content: Array<Json & { type: string, text: string, uri: string }>
  structuredContent?: unknown
}

const base: Partial<Options> = { tools: false, plugins: [own] }

async function client (t: Test, app: FastifyInstance, view: string, principal?: string): Promise<Client> {
  const identity = principal === undefined ? {} : { identity: { principal, scopes: 'all' as const } }
  const made = await createClient(app, { view, ...identity })
  t.teardown(() => made.close())
  return made
}

const call = async (of: Client, name: string, args: Json = {}): Promise<Result> =>
  await of.request('tools/call', { name, arguments: args }) as Result

const linkIn = ({ content }: Result): Json & { uri: string } => {
  const link = content.find(({ type }) => type === 'resource_link')
  if (link === undefined) throw new Error('there is no link')
  return link
}

const textAt = async (of: Client, uri: string): Promise<string> =>
  ((await of.request('resources/read', { uri })).contents as Array<{ text: string }>)[0]?.text ?? ''

t.test('of a long result the client gets head and tail, a sentence and a link, no longer than max', async t => {
  const app = await gateway(t, { ...base, views: { small: { results: { max: 2_000 } }, whole: {} } })
  const small = await client(t, app, 'small')
  const result = await call(small, 'long')
  const [shown, link] = result.content
  t.equal(result.content.length, 2)
  t.ok((shown?.text.length ?? 0) <= 2_000, String(shown?.text.length))
  t.ok((shown?.text.length ?? 0) > 1_600)
  t.match(shown?.text, /^line 0 😀\nline 1 [^]*\n\n\[Whole result: \d+ characters, of which some are left out here; /)
  t.match(shown?.text, /read_result and \{"id":"[\w-]+","offset":0\}\]\n\nline \d+[^]*line 2999 😀$/)
  t.match(link, {
    type: 'resource_link',
    uri: /^patchbay:\/\/result\/[\w-]{22}$/,
    name: 'Whole result of long',
    size: Buffer.byteLength(LONG)
  })
  t.equal(await textAt(small, String(link?.uri)), LONG)
  t.strictSame(await call(small, 'short'), { content: [{ type: 'text', text: 'short' }], isError: false })
  const whole = await call(await client(t, app, 'whole'), 'long')
  t.equal(whole.content[0]?.text, LONG, 'elsewhere nothing is different')
})

t.test('a result of 31 MB costs the client no more than max, and a part of it no more than that part', async t => {
  const huge = 'x'.repeat(31_000_000)
  const plugin = async ({ mcp }: FastifyInstance): Promise<void> => {
    mcp.tools.add(localTool({ name: 'huge', description: 'Huge', run: () => huge }))
  }
  const app = await gateway(t, { tools: false, plugins: [plugin], views: { small: { results: { max: 50_000 } } } })
  const small = await client(t, app, 'small')
  const result = await call(small, 'huge')
  t.ok(JSON.stringify(result).length < 51_000)
  const { get } = app.mcp.store.values
  const keys: string[] = []
  t.intercept(app.mcp.store.values, 'get', {
    value: async (space: string, key: string) => {
      keys.push(key)
      return await get.call(app.mcp.store.values, space, key)
    }
  })
  t.equal((await textAt(small, `${linkIn(result).uri}?offset=30000000&length=1000`)).length, 1_000)
  t.equal(keys.length, 2, 'its head, and one piece')
})

t.test('parts of it are read by offset and length, as a resource and with read_result', async t => {
  const small = await client(t, await gateway(t, { ...base, views: { small: { results: { max: 2_000 } } } }), 'small')
  const { uri } = linkIn(await call(small, 'long'))
  const id = uri.slice('patchbay://result/'.length)
  for (const length of [997, 5_000]) {
    const [read, called]: [string[], string[]] = [[], []]
    for (let offset = 0; offset < LONG.length; offset += length) {
      read.push(await textAt(small, `${uri}?offset=${offset}&length=${length}`))
      called.push((await call(small, 'read_result', { id, offset, length })).content[0]?.text ?? '')
    }
    t.equal(read.join(''), LONG)
    t.equal(called.join(''), LONG)
  }
  t.match(await call(small, 'read_result', { id: uri }), {
    content: [
      // The last character is a surrogate pair.
      { text: LONG.slice(0, 2_001) },
      { text: `[Characters 0 to 2001 of ${LONG.length}. Go on with offset 2001.]` }
    ]
  })
  t.match(await call(small, 'read_result', { id, offset: LONG.length - 2 }), {
    content: [{ text: '😀' }, { text: /This is the end/ }]
  })
  for (const wrong of ['offset=-1', 'length=0', 'offset=1.5', 'offset=x', `offset=${'9'.repeat(30)}`]) {
    const reading = small.request('resources/read', { uri: `${uri}?${wrong}` })
    await t.rejects(reading, { code: -32602, message: /whole number of characters/ }, wrong)
  }
  t.match(await call(small, 'read_result', { id: 'nothing' }), {
    isError: true,
    content: [{ text: 'There is no result "nothing", or it has expired' }]
  })
})

t.test('structured content that is too long is left out, and no output schema is listed', async t => {
  const small = await client(t, await gateway(t, { ...base, views: { small: { results: { max: 2_000 } } } }), 'small')
  const { tools } = await small.request('tools/list') as { tools: Json[] }
  t.strictSame(tools.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name), [])
  const result = await call(small, 'issues')
  t.equal(result.structuredContent, undefined)
  t.equal(result.content.length, 2, 'the text is the same JSON, and kept once')
  t.strictSame(JSON.parse(await textAt(small, linkIn(result).uri)), ISSUES)
  const shown = await call(small, 'shown')
  t.equal(shown.structuredContent, undefined)
  t.match(shown.content, [
    { text: /^400 issues\n\n\[Structured content: \d+ characters/ },
    { type: 'resource_link', name: 'Structured content of shown' }
  ])
  t.strictSame(JSON.parse(await textAt(small, linkIn(shown).uri)), ISSUES)
  const read = await small.request('resources/read', { uri: linkIn(shown).uri })
  t.match(read, { contents: [{ mimeType: 'application/json' }] })
})

t.test('errors, questions, images and embedded resources are not touched', async t => {
  const app = await gateway(t, { ...base, views: { small: { results: { max: 1_000, select: 'a' } } } })
  const small = await client(t, app, 'small')
  t.strictSame(await call(small, 'failing'), { content: [{ type: 'text', text: LONG }], isError: true })
  const { content } = await call(small, 'blocks')
  const shortened = { type: 'text', text: /^aaa[^]*Whole result: 1801 characters[^]*bbb$/ }
  t.match(content, [PNG, shortened, EMBEDDED, { type: 'resource_link' }])
  t.equal(await textAt(small, linkIn({ content }).uri), `${'a'.repeat(900)}\n${'b'.repeat(900)}`)
  const asked = await createClient(app, { view: 'small', elicit: () => ({ action: 'decline' }) })
  t.teardown(() => asked.close())
  t.match(await call(asked, 'asking'), { content: [{ text: /^decline line 0/ }, { type: 'resource_link' }] })
})

t.test('select replaces text and structured content by the value of the expression', async t => {
  const views = {
    ids: { results: { select: 'items[].{id: id}' } },
    first: { results: { select: 'items[0]' } },
    both: { results: { select: 'items[].title', max: 1_000 } }
  }
  const app = await gateway(t, { ...base, views })
  const ids = await client(t, app, 'ids')
  const expected = ISSUES.items.map(({ id }) => ({ id }))
  const result = await call(ids, 'issues')
  t.strictSame(JSON.parse(result.content[0]?.text ?? ''), expected)
  t.strictSame((await call(await client(t, app, 'first'), 'issues')).structuredContent, ISSUES.items[0])
  const ofText = await call(ids, 'json')
  t.strictSame(JSON.parse(ofText.content[0]?.text ?? ''), expected)
  t.equal(ofText.structuredContent, undefined, 'there was none')
  t.equal((await call(ids, 'long')).content[0]?.text, LONG, 'what is not JSON stays')
  const both = await client(t, app, 'both')
  const cut = await call(both, 'issues')
  const titles = ISSUES.items.map(({ title }) => title)
  t.strictSame(JSON.parse(await textAt(both, linkIn(cut).uri)), titles, 'the projection is kept')
  const { tools } = await ids.request('tools/list') as { tools: Json[] }
  t.strictSame(tools.filter(({ outputSchema }) => outputSchema !== undefined), [])
  t.notOk(tools.some(({ name }) => name === 'read_result'), 'nothing is kept without max')
})

t.test('a projection that fails gives the whole result, and is logged by the canonical name', async t => {
  const lines: Json[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Json)
      done()
    }
  })
  const views = {
    nothing: { results: { select: 'missing.part' } },
    wrong: { results: { select: 'items[].length(id)' } }
  }
  const app = await gateway(t, { ...base, views }, { loggerInstance: pino(stream) })
  for (const view of ['nothing', 'wrong']) {
    const inside = await client(t, app, view)
    for (let times = 0; times < 3; times++) {
      const { structuredContent, isError } = await call(inside, 'issues')
      t.strictSame([structuredContent, isError], [ISSUES, false], view)
    }
  }
  const logged = lines.filter(({ msg }) => String(msg).includes('results.select'))
  t.match(logged, [
    { tool: 'issues', msg: /^tool issues: the whole result was sent, because .* gave none: it has no value there$/ },
    { tool: 'issues', msg: /gave none: \w+/ }
  ])
  t.equal(logged.length, 2, 'once for each tool of each view')
  t.notMatch(JSON.stringify(logged), /größer/)
})

t.test('an expression that is none refuses the start with a sentence', async t => {
  const refuses = async (results: object, message: RegExp): Promise<void> => {
    await t.rejects(gateway(t, { ...base, views: { bad: { results } } }), { message })
  }
  await refuses({ select: 'items[' }, /^option views\.bad\.results\.select must be a JMESPath expression: \w+/)
  await refuses({ max: 10 }, /option views\.bad\.results\.max must be a whole number of characters, 1000 or more/)
  await refuses({ most: 10 }, /option views\.bad\.results has no "most"/)
  const override = { issues: { results: { select: '[' } } }
  await t.rejects(gateway(t, { ...base, views: { bad: { override } } }), {
    message: /^option views\.bad\.override\.issues\.results\.select must be a JMESPath expression: /
  })
  const mcpServers = { docs: { url: 'http://127.0.0.1:9/', results: { select: 'lenth(@)' } } }
  await t.rejects(gateway(t, { ...base, mcpServers }), {
    message: /^option mcpServers\.docs\.results\.select must be .*: it has no function "lenth"; did you mean "length"/
  })
})

/** An upstream whose tools have long results. */
const docs = (more: Partial<ServerEntry>, script: object = {}): FakeUpstream => new FakeUpstream('docs', {
  tools: [tool('read', { outputSchema: { type: 'object' } }), tool('brief')],
  answers: { 'tools/call': ({ name }) => ({ content: [{ type: 'text', text: name === 'brief' ? 'brief' : LONG }] }) },
  ...script
}, more)

async function withUpstream (t: Test, views: Options['views'], more: Partial<ServerEntry>, script?: object) {
  const app = await gateway(t, { ...base, views })
  const upstream = docs(more, script)
  const place = await served(t, [upstream], {}, app)
  await place.connect(upstream)
  await app.mcp.additions.settle()
  return { ...place, upstream }
}

const at = (view: string | undefined): { view?: string } => view === undefined ? {} : { view }
const toolNames = async (of: Client): Promise<unknown[]> => await listed(of, 'tools/list', 'tools', 'name')
const templates = async (of: Client): Promise<unknown[]> =>
  await listed(of, 'resources/templates/list', 'resourceTemplates', 'uriTemplate')

t.test('options of a server hold at every URL where its tools are, and read_result is listed there alone', async t => {
  const views = {
    some: { tools: ['docs__*'] },
    mine: { tools: ['long'] },
    without: { servers: ['docs'], exclude: ['read_result'] }
  }
  const { client, app } = await withUpstream(t, views, { results: { max: 1_500 } })
  for (const view of [undefined, 'docs', 'some']) {
    const inside = await client(at(view))
    t.ok((await toolNames(inside)).includes('read_result'), `in ${view}`)
    t.ok((await templates(inside)).includes(TEMPLATE))
    const result = await inside.request('tools/call', { name: view === 'docs' ? 'read' : 'docs__read' }) as Result
    t.equal(await textAt(inside, linkIn(result).uri), LONG)
    const { tools } = await inside.request('tools/list') as { tools: Json[] }
    t.notOk(tools.some(({ outputSchema, name }) => outputSchema !== undefined && String(name).endsWith('read')))
    const short = await inside.request('tools/call', { name: view === 'docs' ? 'brief' : 'docs__brief' })
    t.strictSame(short.content, [{ type: 'text', text: 'brief' }])
  }
  const mine = await client({ view: 'mine' })
  t.strictSame([await toolNames(mine), await templates(mine)], [['long'], []])
  t.notOk((await toolNames(await client({ view: 'without' }))).includes('read_result'), 'exclude takes it away')
  t.match(await call(await client(), 'long'), { content: [{ text: LONG }] }, 'a local tool has no options at /mcp')
  t.ok(app.mcp.tools.get('read_result'))
})

t.test('without options nothing is listed, and results are as they are', async t => {
  const { client } = await withUpstream(t, { all: {} }, {})
  for (const view of [undefined, 'docs', 'all']) {
    t.notOk((await toolNames(await client(at(view)))).includes('read_result'))
    t.strictSame(await templates(await client(at(view))), [])
  }
})

t.test('a view wins over a server, field by field, and its own options end with it', async t => {
  const views = {
    wide: { servers: ['docs'], results: { max: 1_000_000 } },
    tight: { servers: ['docs'], results: { max: 1_000 } }
  }
  const { client, app } = await withUpstream(t, views, { results: { max: 1_500, keep: 5_000 } })
  t.match(await call(await client({ view: 'wide' }), 'docs__read'), { content: [{ text: LONG }] })
  const tight = await client({ view: 'tight' })
  const result = await tight.request('tools/call', { name: 'docs__read' }) as Result
  t.ok((result.content[0]?.text.length ?? 0) <= 1_000)
  const { uri } = linkIn(result)
  t.equal(await textAt(tight, uri), LONG)
  const clock = settable(t)
  clock.later = 5_001
  await t.rejects(tight.request('resources/read', { uri }), { message: /not found/i }, 'after the time of the server')
  await app.mcp.curation.configure({ tight: { servers: ['docs'], results: { max: 1_000 }, scopes: ['mcp'] } })
  await app.mcp.additions.settle()
  t.ok((await toolNames(await client({ view: 'tight' }))).includes('read_result'))
})

t.test('options in an override of a tool win over those of its view and of its server, field by field', async t => {
  const views = {
    wide: { servers: ['docs'], results: { max: 1_000_000 } },
    own: { servers: ['docs'], results: { max: 5_000 }, override: { docs__read: { results: { max: 1_200 } } } },
    local: { tools: ['issues', 'long'], override: { issues: { name: 'ids', results: { select: 'items[].id' } } } }
  }
  const entry = { results: { max: 3_000, keep: 5_000 }, override: { read: { results: { max: 1_500 } } } }
  const { client } = await withUpstream(t, views, entry)
  for (const [view, max] of [[undefined, 1_500], ['docs', 1_500], ['wide', 1_500], ['own', 1_200]] as const) {
    const inside = await client(at(view))
    const result = await call(inside, view === 'docs' ? 'read' : 'docs__read')
    const { length } = result.content[0]?.text ?? ''
    t.ok(length <= max && length > max - 300, `${view}: ${length} of ${max}`)
    t.equal(await textAt(inside, linkIn(result).uri), LONG)
  }
  const local = await client({ view: 'local' })
  t.strictSame(JSON.parse((await call(local, 'ids')).content[0]?.text ?? ''), ISSUES.items.map(({ id }) => id))
  t.match(await call(local, 'long'), { content: [{ text: LONG }] }, 'others are as they are')
  const { tools } = await local.request('tools/list') as { tools: Json[] }
  t.notOk(tools.some(({ outputSchema }) => outputSchema !== undefined))
})

t.test('a tool of the name read_result wins where it is, and ours comes back when it goes', async t => {
  const tools = [tool('read'), tool('read_result')]
  const { client, upstream } = await withUpstream(t, {}, { results: { max: 1_500 } }, { tools })
  const inside = await client({ view: 'docs' })
  const { content } = await inside.request('tools/call', { name: 'read_result' }) as Result
  t.match(content[0]?.text, /^line 0/, 'that of the upstream')
  upstream.script.tools = [tool('read')]
  upstream.connection.emit('notifications/tools/list_changed')
  const isOurs = async (): Promise<boolean> =>
    JSON.stringify(await inside.request('tools/list')).includes('too long to be sent')
  await until(isOurs, 'ours is listed')
})

t.test('in a view with search, a call through call_tool is shortened like a direct one, and read there', async t => {
  const app = await gateway(t, { ...base, views: { found: { search: true, results: { max: 2_000 } } } })
  const inside = await client(t, app, 'found')
  const direct = await call(inside, 'long')
  const result = await call(inside, 'call_tool', { name: 'long', arguments: {} })
  const plain = ({ content }: Result): string =>
    String(content[0]?.text).replaceAll(/result\/[\w-]{22}|"[\w-]{22}"|\d{4}-[\d:.T-]+Z/g, 'ID')
  t.equal(plain(result), plain(direct))
  const { uri } = linkIn(result)
  t.equal(await textAt(inside, uri), LONG)
  const read = { name: 'read_result', arguments: { id: uri, offset: 3, length: 4 } }
  t.match(await call(inside, 'call_tool', read), { content: [{ text: LONG.slice(3, 7) }, {}] })
  t.match(await call(inside, 'find_tools', { query: 'long' }), { isError: false }, 'what finds tools is not touched')
})

t.test('a result is for its caller alone, over every road, and any other looks unknown byte for byte', async t => {
  const keys = [key('ada', ADA), key('bob', BOB)]
  const { app, url } = await listening(t, { ...base, apiKeys: keys, views: { small: { results: { max: 1_000 } } } })
  const stdio = async (principal: string): Promise<Ask> =>
    await overStdio(t, app, { view: 'small', identity: { principal, scopes: new Set(['mcp']) } })
  const pairs: Array<[string, Ask, Ask]> = [['stdio', await stdio('key:ada'), await stdio('key:bob')]]
  for (const [name, connect] of Object.entries(roads)) {
    const open = async (credential: string): Promise<Ask> =>
      await connect(t, url, { view: 'small', headers: bearer(credential) })
    pairs.push([name, await open(ADA), await open(BOB)])
  }
  const nothing = 'A'.repeat(22)
  const attempts: Array<[method: string, params: (id: string) => Json]> = [
    ['resources/read', id => ({ uri: `patchbay://result/${id}` })],
    ['resources/read', id => ({ uri: `patchbay://result/${id}?offset=5&length=5` })],
    ['tools/call', id => ({ name: 'read_result', arguments: { id } })],
    ['completion/complete', id => ({ ref: REFERENCE, argument: { name: 'id', value: id.slice(0, 3) } })]
  ]
  let uri = ''
  for (const [name, ada, bob] of pairs) {
    const { result } = await ada('tools/call', { name: 'long' }) as { result: Result }
    uri = linkIn(result).uri
    const id = uri.slice('patchbay://result/'.length)
    for (const [method, params] of attempts) {
      const words = async (of: string): Promise<string> =>
        JSON.stringify(await bob(method, params(of))).replaceAll(of, 'ID')
      t.equal(await words(id), await words(nothing), `${name} ${method}`)
      t.notMatch(JSON.stringify(await bob(method, params(id))), /line 0/)
    }
    t.match(await ada('resources/read', { uri }), { result: { contents: [{ text: LONG }] } }, `${name}: the owner`)
  }
  for (const [name, ada] of pairs) {
    t.match(await ada('resources/read', { uri }), { result: { contents: [{ text: LONG }] } }, `${name}: kept elsewhere`)
  }
  t.notMatch(JSON.stringify(await pairs[0]?.[1]('resources/list')), /patchbay:/, 'and it is in no list')
})

t.test('what is over the limits is not kept, and the answer says so', async t => {
  const stored = Buffer.byteLength(JSON.stringify(LONG))
  const limits = { maxResultBytes: stored + 10, maxAllResultBytes: 2 * stored }
  const app = await gateway(t, { ...base, limits, views: { small: { results: { max: 1_000 } } } })
  const ada = await client(t, app, 'small', 'ada')
  const bob = await client(t, app, 'small', 'bob')
  const eve = await client(t, app, 'small', 'eve')
  t.ok(linkIn(await call(ada, 'long')))
  const refused = await call(ada, 'long')
  t.equal(refused.content.length, 1)
  t.match(refused.content[0]?.text, /^line 0[^]*left out here and not kept, because what is kept for this caller /)
  t.match(refused.content[0]?.text, / more than \d+ bytes \(limit maxResultBytes\)\][^]*line 2999 😀$/)
  t.ok((refused.content[0]?.text.length ?? 0) <= 1_000)
  t.ok(linkIn(await call(bob, 'long')), 'the limit is everybody\'s own')
  t.match((await call(eve, 'long')).content[0]?.text, /limit maxAllResultBytes/)
})

t.test('a store that fails does not fail the call', async t => {
  const app = await gateway(t, { ...base, views: { small: { results: { max: 1_000 } } } })
  t.intercept(app.mcp.store.values, 'put', { value: async () => { throw new Error('the disk is full') } })
  const { content, isError } = await call(await client(t, app, 'small'), 'long')
  t.match([content, isError], [[{ text: /not kept, because it could not be stored\]/ }], false])
})

t.test('results that are on disk survive a restart', async t => {
  const options = { ...base, data: await dataFolder(t), views: { small: { results: { max: 1_000 } } } }
  const first = await gateway(t, options)
  const { uri } = linkIn(await call(await client(t, first, 'small', 'ada'), 'long'))
  await first.close()
  const second = await gateway(t, options)
  t.equal(await textAt(await client(t, second, 'small', 'ada'), uri), LONG)
  await t.rejects(textAt(await client(t, second, 'small', 'bob'), uri), { message: /not found/i })
})

t.test('a request that is narrowed to some tools can read the results of these', async t => {
  const app = await gateway(t, { ...base, views: { small: { results: { max: 2_000 } } } })
  const ask = async (method: string, params: Json = {}): Promise<Json> => {
    const payload = { jsonrpc: '2.0', id: 1, method, params }
    const { result } = (await app.inject({ method: 'POST', url: '/message/small?tools=long', payload })).json<Json>()
    return result as Json
  }
  t.match((await ask('tools/list'))['tools'], [{ name: 'long' }, { name: 'read_result' }])
  const { content: [shown] } = await ask('tools/call', { name: 'long', arguments: {} }) as Result
  const [, id] = /read_result and \{"id":"([\w-]+)"/.exec(shown?.text ?? '') ?? []
  t.match(await ask('tools/call', { name: 'read_result', arguments: { id } }), { content: [{ text: /^line 0/ }, {}] })
})

t.test('a caller that lost the scopes of the tool cannot read its results', async t => {
  const views = { small: { results: { max: 1_000 } } }
  const app = await gateway(t, { ...base, scopes: { 'tools/long': ['reports'] }, views })
  const as = async (scopes: string[]): Promise<Client> =>
    await createClient(app, { view: 'small', identity: { principal: 'ada', scopes: new Set(scopes) } })
  const [before, after] = [await as(['reports']), await as(['mcp'])]
  t.teardown(async () => { await before.close(); await after.close() })
  const { uri } = linkIn(await call(before, 'long'))
  t.equal(await textAt(before, uri), LONG, 'with no other scope')
  await t.rejects(textAt(after, uri), { message: /not found/i })
})
