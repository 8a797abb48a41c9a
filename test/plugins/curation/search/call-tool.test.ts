import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import * as z from 'zod'
import { McpError, tool as localTool, type Client, type Options } from '../../../../app.js'
import { ADA, apiKeys } from '../../../support/keys.js'
import { modernMeta } from '../../../support/modern.js'
import type { Json } from '../../../support/specification/message.js'
import { modern } from '../../../support/specification/revisions.js'
import { recordSpans } from '../../../support/tracing.js'
import { until } from '../../../support/wait.js'
import { Watcher } from '../../../support/watcher.js'
import { openFixture } from '../../../upstreams/fixture/open.js'
import { FakeUpstream } from '../../../upstreams/lists/fake-upstream.js'
import { tool } from '../../../upstreams/lists/served.js'
import { inFrontOf } from '../../../support/upstreams.js'
import { failure, github, indirect, searchable } from './searchable.js'

const text = async (client: Client, params: Json): Promise<string> => {
  const { content, message } = await failure(client, params) ?? {}
  return String(message ?? (content as Json[] | undefined)?.map(({ text }) => text).join('\n'))
}

t.test('audit log, metrics, rates and watchers see a call by call_tool as one of its target', async t => {
  const lines: Json[] = []
  const write: Writable['_write'] = (chunk, _encoding, done) => {
    lines.push(JSON.parse(String(chunk)) as Json)
    done()
  }
  const loggerInstance = pino({ level: 'info' }, new Writable({ write }))
  const options = { audit: true, metrics: true, toolRates: { github__create_issue: 1 } }
  const views: Options['views'] = { short: { names: 'short', search: true } }
  const { app, client } = await searchable(t, views, options, [github()], { loggerInstance })
  const inside = await client({ view: 'short', identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  const watcher = await Watcher.open(t, app)
  const auditOf = async (params: Json): Promise<Json> => {
    await inside.request('tools/call', params)
    const { audit: { ms, id, ...audit } } = lines.findLast(line => 'audit' in line) as { audit: Json }
    return audit
  }
  const direct = await auditOf({ name: 'search', arguments: {} })
  t.match(direct, { tool: 'github__search', upstream: 'github', outcome: 'ok' })
  t.strictSame(await auditOf(indirect('search', {})), direct)
  t.match((await app.inject('/metrics')).body, /gen_ai_tool_name="github__search"/)
  t.notMatch((await app.inject('/metrics')).body, /call_tool/)
  await until(() => watcher.ended.length >= 2, 'both calls in the watch feed')
  t.notMatch(JSON.stringify(watcher.ended), /call_tool/)
  const calls = [indirect('create_issue'), { name: 'create_issue' }, indirect('create_issue'), { name: 'create_issue' }]
  const outcomes = await Promise.all(calls.map(async params => await text(inside, params)))
  t.ok(outcomes.some(outcome => /create_issue by one caller \(option toolRates\)/.test(outcome)), 'both roads share one rate')
})

t.test('the span of a call by call_tool is that of its target', async t => {
  const spans = recordSpans(t)
  const { client } = await searchable(t, { short: { names: 'short', search: true } }, {}, [github()])
  const inside = await client({ view: 'short' })
  spans.length = 0
  await inside.request('tools/call', indirect('search', {}))
  t.ok(spans.some(({ name }) => name === 'tools/call github__search'), spans.map(({ name }) => name).join())
  t.notMatch(JSON.stringify(spans), /call_tool/)
})

t.test('a scope that the caller lacks is answered over HTTP as for a direct call', async t => {
  const { app } = await searchable(t, undefined, { scopes: { 'tools/github__delete_repo': ['danger'] }, apiKeys })
  const post = async (params: Json): Promise<{ status: number, header: unknown, body: unknown }> => {
    const { statusCode: status, headers, body } = await app.inject({
      method: 'POST',
      url: '/message/all',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADA}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    })
    return { status, header: headers['www-authenticate'], body }
  }
  const direct = await post({ name: 'github__delete_repo', arguments: {} })
  t.equal(direct.status, 403)
  t.strictSame(await post(indirect('github__delete_repo', {})), direct)
})

t.test('a caller without the scopes of call_tool calls nothing by it', async t => {
  const hub = github()
  const { client } = await searchable(t, undefined, { scopes: { 'tools/call_tool': ['indirect'] } }, [hub])
  const as = async (...scopes: string[]): Promise<Client> =>
    await client({ view: 'all', identity: { principal: 'ada', scopes: new Set(scopes) } })
  t.match(await text(await as('mcp'), indirect('github__search')), /Unknown tool: call_tool/)
  t.equal(hub.connection.of('tools/call').length, 0)
  const result = await (await as('mcp', 'indirect')).request('tools/call', indirect('github__search'))
  t.match(result, { content: [{ text: 'search' }] })
})

t.test('a call of call_tool in another form runs nothing, and is told the right one', async t => {
  const hub = github()
  const { client } = await searchable(t, undefined, {}, [hub])
  const inside = await client({ view: 'all' })
  const cases: Array<[args: unknown, told: RegExp]> = [
    [{ name: 'call_tool', arguments: { name: 'github__search' } }, /cannot call itself; call it with \{ "name": "github__/],
    [{ name: 'call_tool' }, /cannot call itself; call it with \{ "name": "NAME"/],
    [{ arguments: { name: 'github__search', q: 1 } }, /not in its place; call it with \{ "name": "github__search"/],
    [{ arguments: { tool_name: 'github__search' } }, /not in its place; call it with \{ "name": "github__search"/],
    [{ tool_name: 'github__search', arguments: {} }, /not in its place; call it with \{ "name": "github__search"/],
    [{ name: 'github__search', q: 'a' }, /"q" of the tool "github__search" go into "arguments"/],
    [{ name: 'github__search', arguments: '{"q":"a"}' }, /"arguments" has to be an object/],
    [{ name: 'github__search', arguments: [] }, /"arguments" has to be an object/],
    [{ name: 7 }, /needs the name of the tool to call/],
    [{}, /needs the name of the tool to call/],
    [undefined, /needs the name of the tool to call/]
  ]
  for (const [args, told] of cases) {
    const params = { name: 'call_tool', ...(args === undefined ? {} : { arguments: args }) }
    t.match(await text(inside, params), told, JSON.stringify(args))
  }
  t.equal(hub.connection.of('tools/call').length, 0, 'nothing ran')
  const none = { name: 'call_tool', arguments: { name: 'github__search', arguments: null } }
  t.match(await inside.request('tools/call', none), { content: [{ text: 'search' }] }, 'null is none')
})

t.test('find_tools and describe_tools are called by call_tool, too', async t => {
  const { client } = await searchable(t)
  const inside = await client({ view: 'all' })
  const call = async (params: Json): Promise<Json> => await inside.request('tools/call', params)
  const query = { query: 'handbook' }
  t.strictSame(await call(indirect('find_tools', query)), await call({ name: 'find_tools', arguments: query }))
  const described = await call(indirect('describe_tools', { names: ['docs__search'] }))
  t.match(described, { structuredContent: { tools: [{ name: 'docs__search' }] } })
})

t.test('wrong arguments are answered with the schema of the tool, on both roads', async t => {
  const odd = new FakeUpstream('odd', {
    tools: [
      tool('refuse', { inputSchema: { type: 'object', properties: { a: { type: 'string' } } } }),
      tool('fail', { inputSchema: { type: 'object', properties: { b: {} }, required: ['b'] } }),
      tool('sdk'),
      tool('huge', { inputSchema: { type: 'object', description: 'x'.repeat(10_000) } })
    ],
    answers: {
      'tools/call': ({ name }) => {
        if (name === 'refuse' || name === 'huge') throw new McpError(-32602, 'a is missing', { own: 1 })
        const said = name === 'sdk' ? 'MCP error -32602: Input validation error' : 'it failed'
        return { content: [{ type: 'text', text: said }], isError: true }
      }
    }
  })
  const { app, client } = await searchable(t, { all: { search: true }, plain: {} }, {}, [odd])
  const input = z.object({ a: z.string().refine(value => value !== 'no', 'must not be no') })
  app.mcp.tools.add(localTool({ name: 'parsed', description: 'Parses', input, run: ({ a }) => a }))
  const [inside, plain] = [await client({ view: 'all' }), await client({ view: 'plain' })]
  const cases: Array<[name: string, args: Json, told: RegExp]> = [
    ['calculate', { a: 1 }, /The input schema of calculate: \{.*"additionalProperties":false/],
    ['parsed', { a: 'no' }, /must not be no.*The input schema of parsed: \{/s],
    ['odd__refuse', {}, /^a is missing\. The input schema of odd__refuse: \{"type":"object","properties":\{"a"/],
    ['odd__fail', {}, /it failed\nThe input schema of odd__fail: \{.*"required":\["b"\]/],
    ['odd__sdk', {}, /-32602: Input validation error\nThe input schema of odd__sdk/],
    ['odd__huge', {}, /describe_tools shows the input schema of odd__huge/]
  ]
  for (const [name, args, told] of cases) {
    const direct = await failure(inside, { name, arguments: args })
    t.match(await text(inside, { name, arguments: args }), told, name)
    t.strictSame(await failure(inside, indirect(name, args)), direct, `${name} by call_tool`)
    t.notMatch(await text(plain, { name, arguments: args }), /input schema of/, 'a view without search listed it')
  }
  t.notMatch(await text(inside, indirect('odd__fail', { b: 1 })), /input schema/, 'a failure of another kind has none')
  t.match(await failure(inside, { name: 'odd__refuse' }), { code: -32602, data: { own: 1 } }, 'the data of the server stays')
})

t.test('headers that mirror arguments are made for the server, and not demanded of the client', async t => {
  const { entry } = await openFixture(t, 'HTTP', modern, 'mh')
  const { url } = await inFrontOf(t, { mh: entry }, { views: { all: { search: true } } })
  const post = async (params: Json, headers: Record<string, string> = {}): Promise<Json> => {
    const response = await fetch(`${url}/mcp/all`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': modern.version,
        'mcp-method': 'tools/call',
        'mcp-name': String(params.name),
        ...headers
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta: modernMeta() } })
    })
    return await response.json() as Json
  }
  const region = { name: 'mh__region', arguments: { region: 'north' } }
  t.match(await post(region), { error: { message: /Mcp-Param-\w+ is missing/ } }, 'a direct call has to have them')
  const [, header = ''] = /(Mcp-Param-\w+)/.exec(JSON.stringify(await post(region))) ?? []
  const params = indirect('mh__region', { region: 'north' })
  t.match(await post(params), { result: { content: [{ text: 'north' }] } })
  t.match(await post(params, { [header]: 'north' }), { result: { content: [{ text: 'north' }] } })
  t.match(await post(params, { [header]: 'south' }), { error: { code: -32020 } }, 'one that is there has to agree')
})
