import { createServer as createTcpServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { modernMeta } from '../../support/modern.js'
import { connect, end, event, resultOf, sendJson, startEvents, startRawServer, type Got } from './raw-server.js'

const _meta = modernMeta()
const SECRET = 'sesame-4711'
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'

/** Ways of a server with a call, and the error of the call. */
const FAILURES: Record<string, [act: (got: Got) => void, why: RegExp, status?: number]> = {
  'an unknown content type': [
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<h1>secret page</h1>')
    },
    /Content-Type/,
    200
  ],
  'no content type': [
    ({ response }) => {
      response.end('{}')
    },
    /Content-Type/,
    200
  ],
  'an empty body': [
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end()
    },
    /not the response/,
    200
  ],
  'status 202': [
    got => {
      end(got, 202)
    },
    /accepted the request without an answer/,
    202
  ],
  'JSON that is no message': [
    got => {
      sendJson(got, { hello: 'secret page' })
    },
    /cannot be read: Invalid Request/,
    200
  ],
  'text that is no JSON': [
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('secret page')
    },
    /cannot be read: Parse error/,
    200
  ],
  'the response to another request': [
    got => {
      sendJson(got, { jsonrpc: '2.0', id: 4711, result: {} })
    },
    /not the response/,
    200
  ],
  'a notification in place of a response': [
    got => {
      sendJson(got, { jsonrpc: '2.0', method: 'notifications/x' })
    },
    /not the response/,
    200
  ],
  'a stream without a response': [
    got => {
      startEvents(got).end(': nothing\n\n')
    },
    /stream ended without the response/,
    200
  ],
  'a stream that breaks off': [
    got => {
      startEvents(got).write(event({ jsonrpc: '2.0', method: 'notifications/x' }), () => got.socket.destroy())
    },
    /closed before the answer was complete/,
    200
  ],
  'half of an event': [
    got => {
      startEvents(got).end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n')
    },
    /stream ended without the response/,
    200
  ],
  'an event that is no JSON': [
    got => {
      startEvents(got).end('data: secret page\n\n')
    },
    /cannot be read: Parse error/,
    200
  ],
  'no reply at all': [
    ({ socket }) => {
      socket.destroy()
    },
    /closed before the answer was complete/
  ],
  'status 204': [
    ({ response }) => {
      response.writeHead(204, { 'content-type': 'application/json' }).end()
    },
    /answered with status 204, which has no content/,
    204
  ],
  'status 304': [
    ({ response }) => {
      response.writeHead(304).end()
    },
    /answered with status 304, as if the answer were known already/
  ],
  'interim replies without an end': [
    ({ socket }) => {
      flood(socket, 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50))
    },
    /too many interim replies/
  ],
  'half of a head': [
    ({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Ty')
    },
    /closed before the answer was complete|not HTTP/
  ],
  'something that is not HTTP': [
    ({ socket }) => {
      socket.end('SSH-2.0-OpenSSH_9.9\r\n')
    },
    /not HTTP/
  ],
  'a Content-Length that is too large': [
    ({ socket }) => {
      socket.end(`${HEAD}Content-Length: 100\r\n\r\n{}`)
    },
    /closed before the answer was complete|Content-Length/,
    200
  ],
  'a Content-Length that is too small': [
    ({ socket }) => {
      socket.end(`${HEAD}Content-Length: 1\r\n\r\n{}`)
    },
    /cannot be read|not HTTP/,
    200
  ],
  'two Content-Lengths': [
    ({ socket }) => {
      socket.end(`${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`)
    },
    /Content-Length|not HTTP/
  ],
  'a chunked body that is cut': [
    ({ socket }) => {
      socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"js`)
    },
    /closed before the answer was complete|not HTTP/,
    200
  ],
  'a wrong chunk size': [
    ({ socket }) => {
      socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`)
    },
    /not HTTP/,
    200
  ],
  'headers without an end': [
    ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      flood(socket, `X: ${'y'.repeat(1_000)}\r\n`)
    },
    /headers of its answer are too long|not HTTP/
  ],
  'a compressed body': [
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(Buffer.alloc(10_000_000)))
    },
    /compressed/
  ],
  'an announced body that is too long': [
    ({ socket }) => {
      socket.write(`${HEAD}Content-Length: 1000000000\r\n\r\n`)
    },
    /more than 1048576 bytes \(limit maxUpstreamMessage\)/,
    200
  ],
  'a body without an end': [
    ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      flood(response, ' '.repeat(10_000))
    },
    /more than 1048576 bytes/,
    200
  ],
  'an event without an end': [
    got => {
      const stream = startEvents(got)
      stream.write('data: "')
      flood(stream, 'x'.repeat(10_000))
    },
    /more than 1048576 bytes/,
    200
  ],
  'an event of lines without an end': [
    got => {
      flood(startEvents(got), 'data:\n'.repeat(1_000))
    },
    /more than 1048576 bytes/,
    200
  ],
  'status 401': [
    got => {
      sendJson(got, { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'secret page' } }, 401, {
        'www-authenticate': 'Bearer'
      })
    },
    /status 401.*does not accept the credential in the header Authorization/,
    401
  ],
  'status 403': [
    got => {
      end(got, 403)
    },
    /status 403.*headers/,
    403
  ],
  'status 404': [
    got => {
      end(got, 404)
    },
    /status 404.*"url"/,
    404
  ],
  'status 429': [
    ({ response }) => {
      response.writeHead(429, { 'retry-after': '7' })
      response.end('secret page')
    },
    /status 429.*in 7 s/,
    429
  ],
  'status 503': [
    ({ response }) => {
      response.writeHead(503, { 'retry-after': '<secret page>' })
      response.end()
    },
    /status 503.*later/,
    503
  ],
  'status 500': [
    ({ response }) => {
      response.writeHead(500, { 'content-type': 'application/json' })
      response.end('{"error":"secret page"}')
    },
    /status 500.*log/,
    500
  ],
  'a redirect to another host': [
    ({ response }) => {
      response.writeHead(307, { location: 'http://localhost:1/mcp' })
      response.end()
    },
    /another origin/
  ],
  'a redirect to another scheme': [
    ({ response, headers: { host } }) => {
      response.writeHead(308, { location: `https://${host}/mcp` })
      response.end()
    },
    /another origin/
  ],
  'a redirect that changes the method': [
    ({ response }) => {
      response.writeHead(302, { location: '/other' })
      response.end()
    },
    /redirect \(status 302\)/
  ],
  'a redirect to nowhere': [
    ({ response }) => {
      response.writeHead(307)
      response.end()
    },
    /redirect \(status 307\)/
  ],
  'redirects without an end': [
    ({ response }) => {
      response.writeHead(307, { location: '/mcp' })
      response.end()
    },
    /more than 3 times/
  ]
}

for (const [name, [act, why, status]] of Object.entries(FAILURES)) {
  t.test(`${name}: the call fails in words, and the next one is served`, async t => {
    let isGood = false
    const { url, sockets } = await startRawServer(t, got => {
      if (isGood) sendJson(got, resultOf(got))
      else act(got)
      return true
    })
    const recorder = await connect(t, 'http', `${url}?key=${SECRET}`, {}, { Authorization: SECRET })
    const outcome = await recorder.ask('tools/call', { name: 'x', _meta })
    t.match(outcome, { what: 'failed', why, status })
    t.notMatch(
      JSON.stringify(outcome),
      /secret page|127\.0\.0\.1|sesame/,
      'neither text of the server nor a secret is in it'
    )
    isGood = true
    t.match(await recorder.ask('tools/call', { name: 'x', _meta }), { message: { result: {} } })
    await recorder.link.close()
    for (const socket of sockets) if (!socket.destroyed) await once(socket, 'close')
    t.pass('all connections end with the link')
  })
}

t.test('a JSON-RPC error with an HTTP error status is the answer, as it is', async t => {
  const error = { code: -32022, message: 'Unsupported protocol version', data: { supported: ['x'] } }
  const { url } = await startRawServer(t, got =>
    sendJson(got, { jsonrpc: '2.0', id: got.message.method === 'a' ? got.message.id : null, error }, 400)
  )
  const recorder = await connect(t, 'http', url)
  t.match(await recorder.ask('a', { _meta }), { what: 'message', status: 400, message: { error } })
  t.match(
    await recorder.ask('b', { _meta }),
    { what: 'message', status: 400, message: { error } },
    'also without an id'
  )
})

t.test('follows redirects to the same origin with the same request, and remembers the last', async t => {
  const paths: string[] = []
  const { url } = await startRawServer(t, got => {
    paths.push(got.path)
    if (got.path === '/mcp/') return sendJson(got, resultOf(got, { authorization: got.headers.authorization }))
    got.response.writeHead(307, { location: `${got.path}/` })
    got.response.end()
    return true
  })
  const recorder = await connect(t, 'http', url, {}, { Authorization: SECRET })
  for (let round = 0; round < 2; round++) {
    t.match(await recorder.ask('tools/list', { _meta }), { message: { result: { authorization: SECRET } } })
  }
  t.same(paths, ['/mcp', '/mcp/', '/mcp/'])
})

t.test('a server that cannot be reached fails the call at once', async t => {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  const recorder = await connect(t, 'http', `http://127.0.0.1:${port}/`)
  t.match(await recorder.ask('tools/list', { _meta }), { what: 'failed', why: /refused; see that the server runs/ })
})

t.test('a server that does not speak TLS is named as such', async t => {
  const { url } = await startRawServer(t)
  const recorder = await connect(t, 'http', url.replace('http', 'https'))
  t.match(await recorder.ask('tools/list', { _meta }), { what: 'failed', why: /does not speak TLS|closed before/ })
})

t.test('refuses requests when too much waits to be sent, and serves the next when there is less', async t => {
  const { url, got } = await startRawServer(t)
  const recorder = await connect(t, 'http', url, { connections: 1, maxQueue: 3_000 })
  const first = recorder.send('tools/call', { text: 'x'.repeat(900), _meta })
  const call = await got.take('the first')
  recorder.send('tools/call', { text: 'x'.repeat(900), _meta })
  t.match(await recorder.ask('tools/call', { text: 'x'.repeat(900), _meta }), { what: 'failed', why: /too much waits/ })
  sendJson(call, resultOf(call))
  await recorder.outcome(first.id)
  const second = await got.take('the second')
  recorder.send('tools/call', { text: 'x'.repeat(900), _meta })
  sendJson(second, resultOf(second))
  await got.take('another one')
})

t.test('a stream that stays open after the response is closed', async t => {
  const { url, got } = await startRawServer(t)
  const recorder = await connect(t, 'http', url)
  const { id } = recorder.send('tools/call', { _meta })
  const call = await got.take('call')
  const closed = once(call.response, 'close')
  startEvents(call).write(event(resultOf(call)) + event({ jsonrpc: '2.0', method: 'notifications/progress' }))
  t.match(await recorder.outcome(id), { message: { result: {} } })
  await closed
  t.same(recorder.reports.empty(), [], 'what comes after the response is dropped')
})

t.test('header values that cannot be sent are named without their value', async t => {
  await t.rejects(connect(t, 'http', 'http://127.0.0.1:1/', {}, { 'X-Key': `${SECRET}\n` }), {
    message: /^(?!.*sesame).*X-Key/
  })
  await t.rejects(connect(t, 'http', 'http://127.0.0.1:1/', {}, { 'X Key': SECRET }), {
    message: /name with characters/
  })
  await t.rejects(connect(t, 'http', 'ftp://127.0.0.1:1/'), { message: /http: or https:/ })
  await t.rejects(connect(t, 'http', `${SECRET}`), { message: /^(?!.*sesame).*cannot be read/ })
})

/** Writes without an end, as fast as it is read. */
function flood (to: NodeJS.WritableStream & { destroyed?: boolean }, text: string): void {
  to.on('error', () => {})
  const write = (): void => {
    while (to.destroyed !== true && to.write(text));
    if (to.destroyed !== true) to.once('drain', write)
  }
  write()
}
