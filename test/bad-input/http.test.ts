import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import type { FastifyServerOptions } from 'fastify'
import t from 'tap'
import { until } from '../support/wait.js'
import { postHead } from '../support/http-requests.js'
import { tryHttpRows, type HttpRow } from './http-rows.js'
import { callTool, MODERN } from '../support/messages.js'
import { lastExchange, request, type Head } from '../support/http-client.js'
import { expectUnharmed, startServer } from '../support/server.js'
import { readLines } from '../support/connections.js'

const PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
const host = (port: number): [string, string] => ['Host', `127.0.0.1:${port}`]
const ping =
  (head: Head, target = '/message', method = 'POST') =>
    (port: number) => [request(method, target, [host(port), ...head], PING)]
const typed = (type: string, target: string) => ping([['Content-Type', type]], target)
const accepting = (accept: string) => ping([['Content-Type', 'application/json'], ['Accept', accept]], '/mcp')
const raw = (text: string) => (port: number) => [
  Buffer.from(text.replaceAll('\n', '\r\n').replace('HOST', `127.0.0.1:${port}`), 'latin1')
]
const get = (target: string, head: Head = []) => (port: number) => [request('GET', target, [host(port), ...head])]

const POSTS = ['/mcp', '/message', '/message?sessionId=x']
const ALLOWED = {
  '/mcp': 'GET, POST, DELETE',
  '/message': 'POST',
  '/sse': 'GET',
  '/mcp/sse': 'GET',
  '/health': 'GET, HEAD'
}
const TYPES: Array<[row: string, type: string]> = [
  ['E3', 'text/plain'],
  ['E3', 'application/x-www-form-urlencoded'],
  ['E3', 'multipart/form-data; boundary=x'],
  ['E3', 'application/json-rpc'],
  ['E3', '*/*'],
  ['E3', ''],
  ['E3', 'application/json, text/plain'],
  ['E4', 'application/json; charset=utf-16'],
  ['E4', 'application/json; charset=utf-8; charset=utf-16'],
  ['E5', 'application/json\ta'],
  ['E5', 'application/json a'],
  ['E5', 'application/jsonx']
]
const CHUNKED = 'Content-Type: application/json\nTransfer-Encoding: chunked\n'

const rows: HttpRow[] = [
  {
    row: 'E1',
    title: 'GET /mcp that wants JSON',
    send: get('/mcp', [['Accept', 'application/json']]),
    expect: '406 -32600 id null'
  },
  {
    row: 'E1',
    title: 'GET /mcp in the stateless era',
    send: get('/mcp', [
      ['Accept', 'text/event-stream'],
      ['MCP-Protocol-Version', MODERN]
    ]),
    expect: '405 -32600 no id',
    headers: { allow: 'POST' }
  },
  ...['/sse', '/mcp/sse'].map(target => ({
    row: 'E1',
    title: `GET ${target} that wants JSON`,
    send: get(target, [['Accept', 'application/json']]),
    expect: 406
  })),
  ...Object.entries(ALLOWED).flatMap(([target, allow]) =>
    ['PUT', 'PATCH', 'OPTIONS', ...(target === '/health' ? [] : ['HEAD'])].map(method => ({
      row: 'E2',
      title: `${method} ${target}`,
      send: (port: number) => [request(method, target, [host(port), ['Connection', 'close']])],
      expect: 405,
      headers: { allow }
    }))
  ),
  { row: 'E2', title: 'BREW /mcp', send: raw('BREW /mcp HTTP/1.1\nHost: HOST\n\n'), expect: 400, closed: true },
  ...POSTS.flatMap(target => [
    { row: 'E3', title: `POST ${target} without a content type`, send: ping([], target), expect: 415 },
    ...TYPES.map(([row, type]) => ({
      row,
      title: `POST ${target} as ${JSON.stringify(type)}`,
      send: typed(type, target),
      expect: 415
    })),
    {
      row: 'E29',
      title: `POST ${target} with a content encoding`,
      send: ping(
        [
          ['Content-Type', 'application/json'],
          ['Content-Encoding', 'gzip']
        ],
        target
      ),
      expect: 415
    }
  ]),
  ...['/mcp', '/message'].map(target => ({
    row: 'A2',
    title: `POST ${target} without any body`,
    send: (port: number) => [request('POST', target, [host(port), ['Content-Type', 'application/json']])],
    expect: '400 -32700 id null'
  })),
  ...['application/json; charset=UTF-8', 'Application/JSON', ' application/json'].map(type => ({
    row: 'E6',
    title: `${JSON.stringify(type)} is what it should be`,
    send: typed(type, '/message'),
    expect: '200 ok id 7'
  })),
  ...[
    'application/json',
    'text/event-stream',
    'text/plain',
    'application/*',
    'application/json, text/event-stream;q=0'
  ].map(accept => ({
    row: 'E7',
    title: `POST /mcp that accepts only ${accept}`,
    send: accepting(accept),
    expect: '406 -32600 id null'
  })),
  ...['*/*', 'application/json, text/event-stream', 'text/*;q=0.1, APPLICATION/JSON'].map(accept => ({
    row: 'E8',
    title: `POST /mcp that accepts ${accept}`,
    send: accepting(accept),
    expect: '200 ok id 7'
  })),
  {
    row: 'E8',
    title: 'POST /mcp that does not say what it accepts',
    send: ping([['Content-Type', 'application/json']], '/mcp'),
    expect: '200 ok id 7'
  },
  {
    row: 'E21',
    title: 'both a length and chunks',
    send: raw(`POST /message HTTP/1.1\nHost: HOST\n${CHUNKED}Content-Length: 5\n\n0\n\n`),
    expect: 400,
    closed: true
  },
  {
    row: 'E22',
    title: 'two lengths',
    send: raw(
      'POST /message HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Length: 5\nContent-Length: 6\n\n12345'
    ),
    expect: 400,
    closed: true
  },
  {
    row: 'E22',
    title: 'a length that is no number',
    send: raw('POST /message HTTP/1.1\nHost: HOST\nContent-Type: application/json\nContent-Length: -1\n\n'),
    expect: 400,
    closed: true
  },
  {
    row: 'E23',
    title: 'a bad chunk size',
    send: raw(`POST /message HTTP/1.1\nHost: HOST\n${CHUNKED}\nZZ\n`),
    expect: 400,
    closed: true
  },
  {
    row: 'E24',
    title: 'a NUL in a header',
    send: raw('GET /health HTTP/1.1\nHost: HOST\nX: a\0b\n\n'),
    expect: 400,
    closed: true
  },
  {
    row: 'E24',
    title: 'a bare CR in a header',
    send: raw('GET /health HTTP/1.1\nHost: HOST\nX: a\rb\n\n'),
    expect: 400,
    closed: true
  },
  {
    row: 'E26',
    title: '20 KB of headers',
    send: get('/health', [['X', 'x'.repeat(20_000)]]),
    expect: 431,
    closed: true
  },
  {
    row: 'E27',
    title: '1,900 headers',
    send: get('/health', new Array<[string, string]>(1_900).fill(['a', ''])),
    expect: 431
  },
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map(name => ({
    row: 'E28',
    title: `a header named ${name}`,
    send: ping([
      ['Content-Type', 'application/json'],
      [name, 'x']
    ]),
    expect: '200 ok id 7'
  })),
  {
    row: 'E31',
    title: 'a TLS hello',
    send: () => [Buffer.from('16030100a5010000a10303', 'hex')],
    expect: 400,
    closed: true
  },
  { row: 'E31', title: 'the preface of HTTP/2', send: raw('PRI * HTTP/2.0\n\nSM\n\n'), expect: 400, closed: true },
  { row: 'E31', title: 'HTTP/0.9', send: raw('GET /mcp\n\n'), expect: /^40[03]/, closed: true },
  { row: 'E31', title: 'HTTP/9.9', send: raw('GET /health HTTP/9.9\nHost: HOST\n\n'), expect: 400, closed: true },
  { row: 'E31', title: 'a path that cannot be decoded', send: get('/%zz'), expect: 400 },
  { row: 'E31', title: 'a path that is not served', send: get('/__proto__'), expect: '404 -32600 id null' }
]

t.test('HTTP requests that are not right are refused', async t => {
  await tryHttpRows(t, await startServer(t), rows)

  await t.test('E6: a content type that starts with a blank, where no parser took the blank away', async t => {
    const { app } = await startServer(t)
    const reply = await app.inject({
      method: 'POST',
      url: '/message',
      headers: { host: 'localhost', 'content-type': ' application/json' },
      payload: PING
    })
    t.equal(reply.statusCode, 415)
  })

  await t.test('E25: a body that does not come is waited for only as long as it may take', async t => {
    const { app: { server: usual } } = await startServer(t)
    t.equal(usual.requestTimeout, 30_000)
    // Node takes the smaller of the two for the headers, whichever was meant.
    t.ok(usual.headersTimeout <= usual.requestTimeout, 'the headers have no more time than the whole')
    const server = await startServer(t, {}, {
      requestTimeout: 200,
      http: { headersTimeout: 100, connectionsCheckingInterval: 50 }
    } as FastifyServerOptions)
    const head = request('POST', '/message', postHead(server.port, [['Content-Length', '100']]))
    t.equal((await lastExchange(server.port, head, '{"jsonr')).status, 408)
    await expectUnharmed(t, server)
  })

  await t.test('E34: an upload that is cut short reaches no handler and logs no error', async t => {
    const stream = new PassThrough()
    const errors: string[] = []
    readLines(stream, line => errors.push(line))
    const server = await startServer(t, {}, { logger: { level: 'error', stream } })
    const body = callTool('count')('legacy')
    for (const cut of [0, 1, 20, body.length - 1]) {
      const socket = connect(server.port, '127.0.0.1')
      socket.write(request('POST', '/message', postHead(server.port, [['Content-Length', String(body.length)]])))
      socket.write(body.slice(0, cut))
      await until(() => socket.bytesWritten > 0 && !socket.connecting, 'the connection')
      socket.destroy()
    }
    await expectUnharmed(t, server)
    t.strictSame([server.seen.counted, errors], [0, []])
  })
})
