import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { decode } from '../../../protocol/wire/jsonrpc.js'
import { inTime, until } from '../../support/wait.js'
import { Speaker } from '../../support/speaker.js'
import { upstreamsReady } from '../../support/upstreams.js'
import { loggedGateway } from '../sign-in/place.js'
import { apiServer, documentOf, fileOf, inFrontOfApi, sendJson } from './api.js'

type Reply = (response: ServerResponse) => void

const send = (status: number, headers: Record<string, string>, body: string | Buffer = ''): Reply =>
  response => response.writeHead(status, headers).end(body)

/** A gateway in front of an API that has one operation for each reply. */
async function replying (t: Test, replies: Record<string, Reply>, options: object = {}, entry: object = {}) {
  const api = await apiServer(t, ({ url }, response) => replies[url.split('?')[0]?.slice(1) ?? '']?.(response))
  const paths = Object.fromEntries(Object.keys(replies).map(name => [`/${name}`, {
    get: { operationId: name, parameters: [{ name: 'page', in: 'query', schema: { type: 'integer' } }] }
  }]))
  return { api, ...await inFrontOfApi(t, { openapi: fileOf(t, documentOf(paths)), url: `${api.url}?key=secret-key`, ...entry }, options) }
}

t.test('what an API answers becomes the content that it is', async t => {
  const { call } = await replying(t, {
    object: send(200, { 'content-type': 'application/json; charset=utf-8' }, '{"a":1.0}'),
    list: send(200, { 'content-type': 'application/problem+json' }, '[1]'),
    none: send(204, {}),
    text: send(200, { 'content-type': 'text/plain; charset=iso-8859-1' }, Buffer.from([0xe9])),
    image: send(200, { 'content-type': 'image/png' }, Buffer.from([1, 2])),
    bytes: send(200, { 'content-type': 'application/zip' }, Buffer.from([0, 255])),
    broken: send(200, { 'content-type': 'application/json' }, '{"a":'),
    latin: send(200, { 'content-type': 'text/plain' }, Buffer.from([0xe9])),
    proto: send(200, { 'content-type': 'application/json' }, '{"__proto__":{"a":1}}')
  })
  t.match(await call('object'), { content: [{ type: 'text', text: '{"a":1.0}' }], structuredContent: { a: 1 } })
  t.match(await call('list'), { structuredContent: { result: [1] } })
  t.match(await call('none'), { content: [{ text: 'No content' }] })
  t.match(await call('text'), { content: [{ text: 'é' }] })
  t.match(await call('image'), { content: [{ type: 'image', data: 'AQI=', mimeType: 'image/png' }] })
  t.match(await call('bytes'), { content: [{ type: 'resource', resource: { uri: 'api:/bytes', mimeType: 'application/zip', blob: 'AP8=' } }] })
  for (const [name, text] of [['broken', '{"a":'], ['proto', '{"__proto__":{"a":1}}']] as const) {
    const result = await call(name)
    t.match(result, { content: [{ text }] })
    t.equal(result.structuredContent, undefined)
  }
  t.match(await call('latin'), { content: [{ type: 'resource', resource: { blob: '6Q==' } }] }, 'no byte is lost')
})

t.test('schemas of answers are listed where the entry asks for it, and an answer that breaks its own is passed on', async t => {
  const json = (schema: object): object => ({ description: '', content: { 'application/json': { schema } } })
  const Node = {
    type: 'object',
    required: ['id', 'secret'],
    properties: {
      id: { type: 'integer', readOnly: true, nullable: true },
      secret: { type: 'string', writeOnly: true },
      name: { type: 'string', pattern: '^(a+)+$' },
      next: { $ref: '#/components/schemas/Node' }
    }
  }
  const node = { $ref: '#/components/schemas/Node' }
  const responses: Record<string, object> = {
    node: { 200: json(node), 201: json(node), 404: json({}) },
    nodes: { '2XX': json({ type: 'array', items: node }) },
    none: { 200: json(node), 204: { description: '' } },
    either: { 200: json({ oneOf: [node, { type: 'string' }] }) },
    text: { 200: { description: '', content: { 'text/plain': { schema: { type: 'string' } } } } }
  }
  const good = { id: null, name: `${'a'.repeat(40)}b` }
  const api = await apiServer(t, ({ url }, response) => sendJson(response, url === '/nodes' ? [{ id: 'x' }] : good))
  const paths = Object.fromEntries(Object.keys(responses).map(name => [`/${name}`, { get: { operationId: name, responses: responses[name] } }]))
  const openapi = fileOf(t, documentOf(paths, { components: { schemas: { Node } } }))
  const plain = await inFrontOfApi(t, { openapi, url: api.url })
  t.notOk('outputSchema' in await plain.tool('node'))
  const entry = { openapi, url: api.url, operations: { outputSchema: true } }
  const { app, log } = await loggedGateway(t, { ephemeral: true, mcpServers: { api: entry } })
  await upstreamsReady(app, ['api'])
  const listed = (name: string) => app.mcp.tools.get(`api__${name}`)?.listed.outputSchema
  const properties = { id: { type: ['integer', 'null'] }, name: { type: 'string', pattern: undefined }, secret: undefined, next: { $ref: '#/$defs/Node' } }
  t.match(listed('node'), { type: 'object', required: ['id'], properties, $defs: { Node: { properties } } })
  t.match(listed('nodes'), { type: 'object', required: ['result'], properties: { result: { type: 'array', items: { $ref: '#/$defs/Node' } } } })
  for (const name of ['none', 'either', 'text']) t.equal(listed(name), undefined, name)
  const client = new Speaker(app)
  for (let calls = 0; calls < 2; calls++) t.match((await client.tool('api__nodes')).result, { structuredContent: { result: [{ id: 'x' }] } })
  await client.tool('api__node')
  t.match(log.filter(line => line.includes('does not fit the schema')), [/an answer to GET \/nodes does not fit/])
})

t.test('an error of the API is an isError result with its status and the beginning of its body', async t => {
  const { call } = await replying(t, {
    missing: response => sendJson(response, { error: 'no such pet' }, 404),
    busy: send(503, { 'retry-after': '120' }),
    long: send(500, { 'content-type': 'text/plain' }, 'x'.repeat(100_000)),
    telling: send(401, { 'content-type': 'text/plain' }, 'the token top-secret-token is wrong')
  }, {}, { headers: { Authorization: 'Bearer top-secret-token' } })
  t.match(await call('missing'), { isError: true, content: [{ text: 'The API answered with status 404 (Not Found): {"error":"no such pet"}' }] })
  t.match(await call('busy'), { isError: true, content: [{ text: /503 \(Service Unavailable\); try again after 120 s$/ }] })
  const { content: [long], isError } = await call('long')
  t.ok(isError)
  t.ok((long?.text.length ?? 0) < 4_300, String(long?.text.length))
  t.match(await call('telling'), { isError: true, content: [{ text: /the token \*\*\* is wrong/ }] })
})

t.test('a next page is said in words, without what the entry adds to the query', async t => {
  const { call } = await replying(t, {
    items: response => response.writeHead(200, {
      'content-type': 'application/json', link: '</items?page=1>; rel="prev", </items?page=3&key=secret-key&size=5>; rel="next"'
    }).end('[]')
  })
  t.match(await call('items', { page: 2 }), { content: [{ text: '[]' }, { text: 'There is a next page: call this tool again with page=3, size=5' }] })
})

t.test('an API that cannot be reached is an error of the request', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  const { call, app } = await inFrontOfApi(t, { openapi: fileOf(t, documentOf({ '/': { get: { operationId: 'get' } } })), url: `http://127.0.0.1:${port}` })
  await t.rejects(call('get'), { message: /The upstream server api failed: the connection was refused/ })
  t.match(app.mcp.upstreams.status(), [{ state: 'ready', transport: 'openapi', revision: undefined }])
})

t.test('replies that are endless, compressed, slow, or lead elsewhere cost a bounded amount and one call', async t => {
  const other = await apiServer(t)
  let ended = 0
  const { call } = await replying(t, {
    endless: response => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.on('close', () => ended++)
      const more = (): void => { while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x'))); }
      response.on('drain', more)
      more()
    },
    bomb: send(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(1_000_000))),
    silent: response => { response.on('close', () => ended++) },
    elsewhere: response => response.writeHead(302, { location: `${other.url}/stolen` }).end(),
    moved: send(301, { location: '/good' }),
    ring: send(302, { location: '/ring' }),
    good: response => sendJson(response, { ok: true })
  }, { limits: { maxUpstreamMessage: 200_000 } }, { timeout: 1_500, headers: { Authorization: 'Bearer for-the-api-alone' } })
  const slow = call('silent')
  slow.catch(() => {})
  await t.rejects(call('endless'), { message: /more than 200000 bytes \(limit maxUpstreamMessage\)/ })
  await t.rejects(call('bomb'), { message: /more than 200000 bytes \(limit maxUpstreamMessage\)/ })
  await t.rejects(call('elsewhere'), { message: /redirects to another origin, which is not followed/ })
  await t.rejects(call('ring'), { message: /redirects more than 3 times/ })
  t.match(await call('moved'), { structuredContent: { ok: true } })
  t.match(await call('good'), { structuredContent: { ok: true } })
  t.equal(other.received.length, 0)
  await t.rejects(inTime(slow, 'the end of a slow call'), { message: /given up after 15\d\d ms/ })
  await until(() => ended === 2, 'the end of both replies')
})

t.test('a call that is cancelled ends its request, and one in flight is finished when the server is removed', async t => {
  const waiting: ServerResponse[] = []
  let isClosed = false
  const { client, app } = await replying(t, {
    wait: response => {
      waiting.push(response)
      response.on('close', () => { isClosed ||= !response.writableEnded })
    }
  })
  const id = client.send('tools/call', { name: 'api__wait', arguments: {} })
  await until(() => waiting.length === 1, 'the request')
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
  const { peer } = client
  if (peer.channel !== undefined) void app.mcp.dispatcher.receive(decode(JSON.stringify(cancelled)), peer, peer.channel)
  await until(() => isClosed, 'the end of the request')
  const answer = client.tool('api__wait')
  await until(() => waiting.length === 2, 'the second request')
  const removed = app.mcp.upstreams.configure([])
  sendJson(waiting[1] as ServerResponse, { late: true })
  t.match((await answer).result, { structuredContent: { late: true } })
  await removed
})
