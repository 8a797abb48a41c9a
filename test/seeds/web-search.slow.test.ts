import t, { type Test } from 'tap'
import { three } from '../support/environment/search-pages.js'
import { service } from '../support/environment/search-service.js'
import type { Json } from './connection.js'
import { PLACEHOLDERS } from './placeholders.js'
import { call, includes, replay, request, result, shows, text, type Example } from './printed.js'
import { connect, serve, TRANSPORTS } from './transports.js'

// The "MCP Protocol Reference" of a search server: stdio, in 2025-11-25.

const QUERY = { type: 'string', description: 'The search query' }
const MAX = { type: 'integer', description: 'Maximum results (default: 5)' }
const failure = (why: string | RegExp) => ({ ...text(why), isError: true })

const EXAMPLES: Example[] = [
  {
    title: 'initialize',
    send: request(1, 'initialize', {
      protocolVersion: '2025-11-25',
      clientInfo: { name: 'my-client', version: '1.0.0' },
      capabilities: {}
    }),
    back: result(1, {
      protocolVersion: '2025-11-25',
      serverInfo: { name: /./, version: /^\d+\.\d+\.\d+/ },
      capabilities: { tools: { listChanged: true } }
    })
  },
  { title: 'notifications/initialized', send: { jsonrpc: '2.0', method: 'notifications/initialized' } },
  {
    title: 'tools/list',
    send: { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    lists: {
      tools: [
        {
          name: 'web_search',
          description: 'Search the web using DuckDuckGo',
          inputSchema: { type: 'object', properties: { query: QUERY, max_results: MAX }, required: ['query'] }
        }
      ]
    }
  },
  {
    title: 'tools/call',
    send: call(3, 'web_search', { query: 'MCP protocol', max_results: 3 }),
    back: result(3, { ...text(/^Search results for: MCP protocol\n\n1\. [^]+\n\n2\. [^]+\n\n3\. /), isError: false })
  },
  {
    title: 'tools/call that fails',
    send: call(3, 'web_search', { query: 'never answered' }),
    exactly: result(3, failure('Search error: Network timeout'))
  },
  {
    title: 'content types',
    send: call(4, 'content_types', {}),
    back: result(4, {
      content: [
        { type: 'text', text: 'Hello, world!' },
        { type: 'image', data: 'base64-encoded-data', mimeType: 'image/png' },
        // Printed flat here; the specification and another document have it nested.
        { type: 'resource', resource: { uri: 'file:///path/to/file', mimeType: 'text/plain', text: 'file contents' } }
      ]
    })
  },
  {
    title: 'the flat resource is data, not a block',
    send: call(5, 'flat_resource', {}),
    back: result(
      5,
      text('{"type":"resource","uri":"file:///path/to/file","mimeType":"text/plain","text":"file contents"}')
    )
  },
  {
    title: 'invalid request',
    send: { jsonrpc: '2.0', id: 1, params: {} },
    back: { jsonrpc: '2.0', id: 1, error: { code: -32600, message: /^Invalid Request/ } }
  },
  {
    title: 'unknown method',
    send: request(6, 'method/name'),
    back: { id: 6, error: { code: -32601, message: /^Method not found/ } }
  },
  {
    title: 'invalid params',
    send: request(7, 'tools/call', { name: 7 }),
    back: { id: 7, error: { code: -32602, message: /^Invalid params/ } }
  },
  {
    title: 'unknown tool',
    send: call(8, 'nope', {}),
    back: { id: 8, error: { code: -32602, message: /^Invalid params/ } }
  },
  {
    title: 'internal error',
    send: call(9, 'crashes', {}),
    back: { id: 9, error: { code: -32603, message: /^Internal error/ } }
  },
  { title: 'inputs are validated', send: call(10, 'web_search', {}), back: result(10, failure(/query/)) },
  {
    title: 'inputs are validated',
    send: call(10, 'web_search', { query: 'x', max_results: 'many' }),
    back: result(10, failure(/max_results must be integer/))
  }
]

/** Printed like this; three dots stand for anything. */
const SESSION = `
→ {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"test","version":"1.0"},"capabilities":{}}}
← {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"mcp-secure-local","version":"1.0.0"},"capabilities":{"tools":{"listChanged":true}}}}
→ {"jsonrpc":"2.0","method":"notifications/initialized"}
→ {"jsonrpc":"2.0","id":2,"method":"tools/list"}
← {"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"web_search","description":"Search the web using DuckDuckGo","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}]}}
→ {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"web_search","arguments":{"query":"hello"}}}
← {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Search results for: hello\\n..."}],"isError":false}}`

t.test('the search server of the documents', async t => {
  const { url } = await service(t, (request, response) => {
    if (!/never/.test(request.url ?? '')) {
      response.writeHead(200, { 'content-type': 'text/html; charset=UTF-8' }).end(three)
    }
  })
  const env = { PATCHBAY_SEARCH_URL: url, PATCHBAY_LIMITS: 'searchTimeout=1500' }
  const served = await serve(t, { args: ['--plugin', PLACEHOLDERS], env })
  // Its author called it so.
  const named = await serve(t, { env: { ...env, PATCHBAY_NAME: 'mcp-secure-local' } })

  for (const transport of TRANSPORTS) {
    t.test(`every example over ${transport}`, async t => {
      const client = await connect(t, transport, served)
      t.strictSame(
        await client.sendRequest(request(0, 'ping')),
        result(0, {}),
        'besides the handshake, ping is answered at any time'
      )
      const early = await client.sendRequest({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      if (transport === '/message') t.match(early, { id: 1, result: { tools: Array } }, 'here no handshake is needed')
      else {
        shows(
          t,
          early,
          { jsonrpc: '2.0', id: 1, error: { code: -32600, message: /^Invalid Request/ } },
          'the handshake comes first'
        )
      }
      await replay(t, client, EXAMPLES)
      shows(t, await client.sendText('not json'), {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32700, message: /^Parse error/ }
      })
      t.strictSame(client.answers, [], 'nothing else is answered')
    })

    t.test(`the example session over ${transport}, line by line`, async t => {
      const client = await connect(t, transport, named)
      let answer: Json = {}
      for (const line of SESSION.trim().split('\n')) {
        const message = JSON.parse(line.slice(2)) as Json
        if (line.startsWith('←')) compare(t, answer, message)
        else if (message.id === undefined) await client.send(message)
        else answer = await client.sendRequest(message)
      }
    })
  }
})

/** The version and what the dots stand for cannot be known, and more is listed than is printed. */
function compare (t: Test, answer: Json, message: Json): void {
  const known = JSON.parse(JSON.stringify(message), (key, value: unknown) => {
    if (key === 'version') return /^\d+\.\d+\.\d+/
    return typeof value === 'string' && value.endsWith('...') ? new RegExp(`^${value.slice(0, -3)}[^]`) : value
  }) as Json
  const { tools } = known.result as { tools?: Json[] }
  if (tools === undefined) shows(t, answer, known)
  else includes(t, (answer.result as { tools: Json[] }).tools, tools)
}
