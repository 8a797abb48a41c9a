import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { build, createClient } from '../../app.js'
import { callTool, type Json } from '../support/modern.js'
import { folder, launch } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { anomaly, found, noResults, page, result, three } from '../support/environment/search-pages.js'
import { giving, service } from '../support/environment/search-service.js'

const TEXT = `Search results for: MCP protocol

1. Model Context Protocol
   https://modelcontextprotocol.io/docs?a=1&b=2
   The MCP is an open protocol & more.

2. Specification
   https://spec.example/mcp
   Read it's here

3. Servers
   https://github.com/modelcontextprotocol/servers
   Reference servers`

const content = (text: string) => [{ type: 'text', text }]
const params = (query: string, more: Json = {}) => ({ name: 'web_search', arguments: { query, ...more } })

/** Searches as a client of 2025-11-25 in the same process. */
async function searching (t: Test, searchUrl: string, searchTimeout = 5_000) {
  const { request } = await createClient(await gateway(t, { searchUrl, limits: { searchTimeout }, http: false }))
  return async (query: string, more?: Json, signal?: AbortSignal) =>
    await request('tools/call', params(query, more), signal)
}

t.test('the tool is listed as described', async t => {
  const { request } = await createClient(await gateway(t, { http: false }))
  const { tools } = await request('tools/list') as { tools: Json[] }
  t.strictSame(
    tools.find(({ name }) => name === 'web_search'),
    {
      name: 'web_search',
      title: 'Web search',
      description: 'Search the web using DuckDuckGo',
      annotations: { readOnlyHint: true, openWorldHint: true },
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', minLength: 1, maxLength: 500, description: 'The search query' },
          max_results: { type: 'integer', minimum: 1, maximum: 20, description: 'Maximum results (default: 5)' }
        },
        required: ['query'],
        additionalProperties: false
      },
      outputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string' },
          results: {
            type: 'array',
            items: {
              type: 'object',
              properties: { title: { type: 'string' }, url: { type: 'string' }, snippet: { type: 'string' } },
              required: ['title', 'url', 'snippet']
            }
          }
        },
        required: ['query', 'results']
      }
    }
  )
})

t.test('results are numbered text, and data for clients that know it', async t => {
  const { url: searchUrl } = await giving(t, three)
  const app = await gateway(t, { searchUrl })
  const structuredContent = { query: 'MCP protocol', results: found }
  const expected: Record<string, Json> = {
    '2024-11-05': { content: content(TEXT) },
    '2025-06-18': { content: content(TEXT), structuredContent },
    '2025-11-25': { content: content(TEXT), structuredContent, isError: false }
  }
  for (const [protocolVersion, result] of Object.entries(expected)) {
    t.strictSame(
      await (await createClient(app, { protocolVersion })).request('tools/call', params('MCP protocol')),
      result,
      protocolVersion
    )
  }
  t.match((await callTool(app, 'web_search', { query: 'MCP protocol' })).result, {
    content: content(TEXT),
    structuredContent,
    isError: false
  })
})

t.test('it is called over HTTP', async t => {
  const { url: searchUrl } = await giving(t, three)
  const { url } = await listening(t, { searchUrl })
  const post = async (message: object, headers = {}) =>
    await (
      await fetch(`${url}/message`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })
      })
    ).json()
  const call = { method: 'tools/call', params: params('MCP protocol') }
  t.strictSame(await post(call), { jsonrpc: '2.0', id: 1, result: { content: content(TEXT) } })
  t.match(await post(call, { 'mcp-protocol-version': '2025-11-25' }), {
    id: 1,
    result: { content: content(TEXT), structuredContent: { results: found }, isError: false }
  })
  t.match(await post({ method: 'tools/call', params: params('') }), {
    id: 1,
    error: { code: -32602, message: /query/ }
  })
})

t.test('it is called over WebSocket', async t => {
  const { url: searchUrl } = await giving(t, three)
  const { url } = await listening(t, { searchUrl })
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  t.teardown(() => socket.terminate())
  const ask = async (message: object) => await within(60_000, async signal => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    return JSON.parse(String((await once(socket, 'message', { signal }))[0])) as Json
  })
  await once(socket, 'open')
  await ask({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
  t.match(await ask({ id: 2, method: 'tools/call', params: params('MCP protocol', { max_results: 1 }) }), {
    id: 2,
    result: { structuredContent: { results: found.slice(0, 1) }, isError: false }
  })
})

t.test('a session over stdio, as a client has it', async t => {
  const { url } = await giving(t, three)
  const server = launch(t, ['--stdio', '--log-level', 'silent'], {
    env: { PATCHBAY_SEARCH_URL: url, XDG_DATA_HOME: await folder(t, {}) }
  })
  const ask = async (id: number, method: string, params?: Json) => {
    server.send({ id, method, params })
    return await server.next()
  }
  t.match(
    await ask(1, 'initialize', {
      protocolVersion: '2025-11-25',
      clientInfo: { name: 'test', version: '1.0' },
      capabilities: {}
    }),
    {
      jsonrpc: '2.0',
      id: 1,
      result: {
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'mcp-patchbay' },
        capabilities: { tools: { listChanged: true } }
      }
    }
  )
  server.send({ method: 'notifications/initialized' })
  const { result: { tools } } = await ask(2, 'tools/list') as { result: { tools: Json[] } }
  t.match(
    tools.find(({ name }) => name === 'web_search'),
    {
      description: 'Search the web using DuckDuckGo',
      inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }
    }
  )
  t.strictSame(await ask(3, 'tools/call', params('hello')), {
    jsonrpc: '2.0',
    id: 3,
    result: {
      content: content(TEXT.replace('MCP protocol', 'hello')),
      structuredContent: { query: 'hello', results: found },
      isError: false
    }
  })
  server.end()
  t.equal((await server.exit()).code, 0)
})

t.test('no more results come than the client asks for: five by default', async t => {
  const many = Array.from({ length: 30 }, (_, index) => result(`Title ${index + 1}`, `https://a.example/${index + 1}`))
  const search = await searching(t, (await giving(t, page(...many))).url)
  const count = async (more?: Json) =>
    ((await search('x', more)) as { structuredContent: { results: unknown[] } }).structuredContent.results.length
  t.equal(await count(), 5)
  t.equal(await count({ max_results: 1 }), 1)
  t.equal(await count({ max_results: 20 }), 20)
  t.match(
    await search('x', { max_results: 1 }),
    { content: content('Search results for: x\n\n1. Title 1\n   https://a.example/1') },
    'a result without a snippet has no empty line'
  )
})

t.test('nothing found is not an error', async t => {
  const search = await searching(t, (await giving(t, noResults)).url)
  t.strictSame(await search('xyzzy'), {
    content: content('No results found for: xyzzy'),
    structuredContent: { query: 'xyzzy', results: [] },
    isError: false
  })
})

t.test('invalid arguments are refused without a search', async t => {
  const { url, connections } = await giving(t, three)
  const search = await searching(t, url)
  for (const [query, more] of [
    ['', {}],
    ['x'.repeat(501), {}],
    ['x'.repeat(1_000_000), {}],
    ['x', { max_results: 0 }],
    ['x', { max_results: 21 }],
    ['x', { max_results: 1.5 }],
    ['x', { page: 2 }]
  ] as Array<[string, Json]>) {
    t.match(await search(query, more), {
      isError: true,
      content: [{ text: /^Invalid params: arguments of web_search: / }]
    })
  }
  t.strictSame(await search(' \r\n\t'), {
    content: content('Search error: The query is only whitespace; say what to search for'),
    isError: true
  })
  t.equal(connections.length, 0)
  t.match(await search('é'.repeat(500)), { isError: false })
})

const TIMEOUT = 'Search error: Network timeout'
const FAILURES: Array<[what: string, serve: (t: Test) => Promise<{ url: string }>, text: string | RegExp]> = [
  ['a service that does not answer', async t => await service(t, () => {}), TIMEOUT],
  [
    'a service that stops in the middle',
    async t =>
      await service(t, (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<html>')
      }),
    TIMEOUT
  ],
  [
    'a service that is unwell',
    async t => await giving(t, three, 503),
    'Search error: The search service answered with status 503'
  ],
  [
    'a service that doubts that we are a person',
    async t => await giving(t, anomaly, 202),
    'Search error: The search service asks for proof that a person is searching; try again later'
  ],
  [
    'a service that is none',
    async t => await giving(t, '<h1>It works!</h1>'),
    'Search error: The search service sent something that is not a results page'
  ],
  [
    'a service that has moved',
    async t =>
      await service(t, (_, response) => {
        response.writeHead(301, { location: 'https://elsewhere.example/' }).end()
      }),
    /^Search error: The search service redirects to another host/
  ],
  [
    'a service that sends too much',
    async t => await giving(t, 'x'.repeat(3 * 1024 * 1024)),
    'Search error: The search service sent more than 2 MiB'
  ],
  [
    'a service that hangs up',
    async t =>
      await service(t, ({ socket }) => {
        socket.destroy()
      }),
    /^Search error: The search service cut the connection/
  ]
]
for (const [what, serve, text] of FAILURES) {
  t.test(`${what} is an error result with a reason, in every revision`, async t => {
    const app = await gateway(t, {
      searchUrl: (await serve(t)).url,
      limits: { searchTimeout: text === TIMEOUT ? 300 : 30_000 }
    })
    const failure = { isError: true, content: [{ type: 'text', text }] }
    const answers = ['2024-11-05', '2025-11-25'].map(
      async protocolVersion =>
        await (await createClient(app, { protocolVersion })).request('tools/call', params('hello'))
    )
    for (const answer of [
      ...(await Promise.all(answers)),
      (await callTool(app, 'web_search', { query: 'hello' })).result
    ]) {
      t.match(answer, failure)
    }
  })
}

t.test('a search that is cancelled leaves the service at once', async t => {
  const stop = new AbortController()
  let gone: Promise<unknown> = Promise.reject(new Error('nobody asked'))
  gone.catch(() => {})
  const { url } = await service(t, (_request, response) => {
    gone = within(30_000, async signal => await once(response, 'close', { signal }))
    stop.abort()
  })
  const search = await searching(t, url, 60_000)
  await t.rejects(search('hello', {}, stop.signal), { message: /cancelled/ })
  await t.resolves(gone)
})

t.test('plugins search with what the app has, and get failures that a client may see', async t => {
  const app = await gateway(t, { searchUrl: (await giving(t, three)).url, http: false })
  t.strictSame(await app.mcp.webSearch('mcp', 2, new AbortController().signal), found.slice(0, 2))
  await t.rejects(app.mcp.webSearch(' ', 2, new AbortController().signal), {
    name: 'ToolError',
    message: /^Search error: /
  })
})

t.test('an address that cannot be asked is refused at start', async t => {
  for (const searchUrl of ['http://', 'https://user:secret@search.example/', 'http://:secret@search.example/']) {
    await t.rejects(build({ searchUrl }), {
      message: 'option searchUrl must be an http or https URL without a user name and password'
    })
  }
  await t.rejects(build({ searchUrl: 'file:///etc/passwd' }), {
    message: 'option searchUrl must be an http or https URL'
  })
})
