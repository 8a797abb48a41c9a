import type { ServerResponse } from 'node:http'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { decode } from '../../../protocol/wire/jsonrpc.js'
import { until } from '../../support/wait.js'
import { apiServer, documentOf, fileOf, inFrontOfApi } from './api.js'

type Reply = (response: ServerResponse) => void

const JSON_TYPE = { 'content-type': 'application/json' }
const compressed = (encoding: string, body: Buffer, status = 200): Reply =>
  response => response.writeHead(status, { ...JSON_TYPE, 'content-encoding': encoding }).end(body)

async function replying (t: Test, replies: Record<string, Reply>, options: object = {}) {
  const api = await apiServer(t, ({ url }, response) => replies[url.slice(1)]?.(response))
  const paths = Object.fromEntries(Object.keys(replies).map(name => [`/${name}`, { get: { operationId: name } }]))
  return await inFrontOfApi(t, { openapi: fileOf(t, documentOf(paths)), url: api.url, timeout: 60_000 }, options)
}

const VALUE = { list: Array.from({ length: 20_000 }, (_, index) => index) }
const BYTES = Buffer.from(JSON.stringify(VALUE))

t.test('a reply that comes compressed, which is not asked for, is decompressed', async t => {
  const { call } = await replying(t, {
    gzip: compressed('gzip', gzipSync(BYTES)),
    old: compressed('X-GZIP', gzipSync(BYTES)),
    deflate: compressed('deflate', deflateSync(BYTES)),
    raw: compressed('deflate', deflateRawSync(BYTES)),
    br: compressed('br', brotliCompressSync(BYTES)),
    plain: compressed('Identity', BYTES),
    none: compressed('gzip', Buffer.alloc(0), 204)
  })
  for (const name of ['gzip', 'old', 'deflate', 'raw', 'br', 'plain']) t.strictSame((await call(name)).structuredContent, VALUE, name)
  t.match(await call('none'), { content: [{ text: 'No content' }] })
})

t.test('a failure that comes compressed is read, and one that does not end is ended', async t => {
  const { call } = await replying(t, {
    failure: compressed('gzip', gzipSync(JSON.stringify({ why: 'no such pet' })), 404),
    large: compressed('br', brotliCompressSync(Buffer.alloc(50_000_000, 'x')), 500)
  })
  t.match(await call('failure'), { isError: true, content: [{ text: /404 \(Not Found\): {"why":"no such pet"}/ }] })
  t.match(await call('large'), { isError: true, content: [{ text: /500 .*: x{4096}\n… \(\d+ bytes in all\)$/ }] })
})

t.test('a reply that would become too long is ended where it does, and so is one that is not what it says', async t => {
  const limits = { maxUpstreamMessage: 200_000 }
  const before = process.memoryUsage.rss()
  const { call } = await replying(t, {
    gzip: compressed('gzip', gzipSync(Buffer.alloc(100_000_000))),
    br: compressed('br', brotliCompressSync(Buffer.alloc(100_000_000))),
    broken: compressed('gzip', Buffer.from('{"a":1}')),
    half: compressed('gzip', gzipSync(BYTES).subarray(0, 1_000)),
    unknown: compressed('gzip, br', gzipSync(BYTES)),
    zstd: compressed('zstd', Buffer.from('x'))
  }, { limits })
  const long = /more than 200000 bytes \(limit maxUpstreamMessage\)/
  for (const [name, message] of Object.entries({
    gzip: long, br: long, broken: /it cannot be decompressed \(gzip\)/, half: /it cannot be decompressed \(gzip\)/, unknown: /not known \(gzip, br\)/, zstd: /not known \(zstd\)/
  })) await t.rejects(call(name), { message }, name)
  t.ok(process.memoryUsage.rss() - before < 200_000_000)
})

t.test('a slow reply that is compressed is cancelled with its call', async t => {
  let isClosed = false
  let isAsked = false
  const { app, client } = await replying(t, {
    slow: response => {
      isAsked = true
      response.on('close', () => { isClosed = true })
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).write(gzipSync(BYTES).subarray(0, 1_000))
    }
  })
  const id = client.send('tools/call', { name: 'api__slow', arguments: {} })
  await until(() => isAsked, 'the request')
  const { peer } = client
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }
  if (peer.channel !== undefined) void app.mcp.dispatcher.receive(decode(JSON.stringify(cancelled)), peer, peer.channel)
  await until(() => isClosed, 'the end of the reply')
})

t.test('HEAD tells the headers of a thing, however long it is', async t => {
  const headers = { ...JSON_TYPE, 'content-length': '20000000', etag: '"v1"', 'last-modified': 'Thu, 19 Nov 2026 03:00:00 GMT', 'x-other': '1' }
  const api = await apiServer(t, ({ url }, response) => response.writeHead(url === '/none' ? 404 : 200, headers).end())
  const head = (operationId: string): object => ({ head: { operationId, responses: { 200: { content: { 'application/json': { schema: { type: 'object', required: ['a'] } } } } } } })
  const { call, tool } = await inFrontOfApi(t, {
    openapi: fileOf(t, documentOf({ '/file': head('file'), '/none': head('none') })), url: api.url, operations: { outputSchema: true }
  }, { limits: { maxUpstreamMessage: 200_000 } })
  const result = await call('file')
  t.notOk(result.isError)
  t.strictSame(result.structuredContent, {
    status: 200, 'content-type': 'application/json', 'content-length': '20000000', etag: '"v1"', 'last-modified': headers['last-modified']
  })
  t.match(result.content, [{ text: /^Status 200\ncontent-type: application\/json\ncontent-length: 20000000\netag: "v1"\nlast-modified: Thu/ }])
  t.notOk('outputSchema' in await tool('file'))
  t.match(await call('none'), { isError: true, content: [{ text: 'The API answered with status 404 (Not Found)' }] })
})
