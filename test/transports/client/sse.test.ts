import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import t, { type Test } from 'tap'
import { z } from 'zod'
import type { Channel } from '../../../protocol/wire/channel.js'
import { encodeNotification, encodeRequest } from '../../../protocol/wire/jsonrpc.js'
import type { UrlDialOptions } from '../../../transports/client/dial-url.js'
import {
  connect,
  end,
  event,
  resultOf,
  sendJson,
  startEvents,
  startRawServer,
  type Got,
  type RawServer
} from './raw-server.js'
import type { LinkRecorder } from './link-recorder.js'
import type { ServerResponse } from 'node:http'

for (const kind of ['sse', 'any'] as const) {
  t.test(`${kind}: calls a tool of an HTTP+SSE server of the official SDK`, async t => {
    const recorder = await connect(t, kind, await startSdk(t))
    t.match(await recorder.initialize(), { message: { result: { serverInfo: { name: 'sdk' } } } })
    t.equal(recorder.link.transport, 'sse')
    t.match(await recorder.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } }), {
      on: undefined,
      message: { result: { content: [{ text: 'hi' }] } }
    })
  })
}

t.test('posts to the endpoint that the server names, with the configured headers', async t => {
  const { got, recorder } = await open(t, 'event: endpoint\ndata: /message?session=1\n\n')
  recorder.send('ping')
  const ping = await got.take('ping')
  t.match(ping, {
    method: 'POST',
    path: '/message?session=1',
    headers: { 'x-key': 'sesame' },
    message: { method: 'ping' }
  })
})

t.test('does not post to another origin', async t => {
  for (const endpoint of ['http://localhost:1/message', '//example.org/message', 'http://']) {
    await t.rejects(open(t, `event: endpoint\ndata: ${endpoint}\n\n`), { message: /another origin/ })
  }
})

t.test('a server that has no such stream is refused in words', async t => {
  const wrong: Record<string, [(got: Got) => unknown, RegExp]> = {
    401: [got => end(got, 401), /status 401.*header Authorization/],
    404: [got => end(got, 404), /status 404/],
    'no event stream': [got => sendJson(got, {}), /no event stream/],
    'an end': [got => startEvents(got).end(), /closed the event stream/],
    'a redirect': [
      ({ response }) => {
        response.writeHead(302, { location: 'http://localhost:1/' })
        response.end()
      },
      /redirect/
    ]
  }
  for (const [name, [act, why]] of Object.entries(wrong)) {
    const { url } = await startRawServer(t, got => { act(got); return true })
    await t.rejects(connect(t, 'sse', url), { message: why }, name)
  }
})

t.test('the signal ends an attempt that the server does not answer', async t => {
  const { url, got } = await startRawServer(t)
  const { dialUrl } = await import('../../../transports/client/dial-url.js')
  const { LinkRecorder, OPTIONS } = await import('./link-recorder.js')
  const controller = new AbortController()
  const attempt = dialUrl('sse', { url, headers: {} }, OPTIONS)(new LinkRecorder().events, controller.signal)
  const { response } = await got.take('GET')
  controller.abort(new Error('enough'))
  await t.rejects(attempt)
  await once(response, 'close')
})

t.test('a POST that is refused fails its request, and the end of the stream ends the link', async t => {
  const { got, recorder, stream } = await open(t, 'event: endpoint\ndata: /message\n\n')
  const { id } = recorder.send('tools/call', {})
  end(await got.take('call'), 500)
  t.match(await recorder.outcome(id), { what: 'failed', status: 500, why: /status 500/ })
  stream.end()
  t.match(await recorder.reports.take('closed'), { what: 'closed', why: /closed the event stream/ })
})

t.test('an event that is too long fails the request that it answers, and the stream goes on', async t => {
  const { got, recorder, stream } = await open(t, 'event: endpoint\ndata: /message\n\n')
  const { id } = recorder.send('tools/call', {})
  const call = await got.take('call')
  end(call, 202)
  stream.write(event(`{"jsonrpc":"2.0","result":{"x":"${'x'.repeat(2_000_000)}"},"id":${id}}`))
  t.match(await recorder.outcome(id), { what: 'failed', why: /more than 1048576 bytes/ })
  const next = recorder.send('tools/list')
  const list = await got.take('list')
  end(list, 202)
  stream.write(event(resultOf(list)))
  t.match(await recorder.outcome(next.id), { message: { result: {} } })
})

t.test('a response that is nested too deeply fails the request that it answers', async t => {
  const { got, recorder, stream } = await open(t, 'event: endpoint\ndata: /message\n\n')
  const { id } = recorder.send('tools/call', {})
  end(await got.take('call'), 202)
  stream.write(event(`{"jsonrpc":"2.0","id":${id},"result":{"x":${'['.repeat(100)}${']'.repeat(100)}}}`))
  t.match(await recorder.outcome(id), { what: 'failed', why: /response cannot be read/ })
})

t.test('any: reports the refusal of the first transport when there is no second', async t => {
  const { url, got } = await startRawServer(t, item => end(item, 404))
  const recorder = await connect(t, 'any', url)
  t.match(await recorder.ask('initialize'), { what: 'failed', status: 404 })
  t.equal(recorder.link.transport, 'http')
  t.same(got.empty(), [])
})

t.test('any: a credential that is refused is no reason for another transport', async t => {
  const methods: string[] = []
  const { url } = await startRawServer(t, item => { methods.push(item.method); return end(item, 401) })
  const recorder = await connect(t, 'any', url)
  t.match(await recorder.ask('initialize'), { what: 'failed', status: 401 })
  t.same(methods, ['POST'])
})

t.test('a call that is cancelled while it waits for a connection is not sent, nor is its cancellation', async t => {
  const { got, recorder } = await open(t, 'event: endpoint\ndata: /message\n\n', { connections: 4 })
  const call = (id: string): Channel => {
    const channel = recorder.link.channelFor({ id, method: 'tools/call', params: {}, caller: 'bob' })
    channel.emit(encodeRequest(id, 'tools/call', {}), 'tools/call')
    return channel
  }
  const cancel = (channel: Channel, requestId: string): void =>
    channel.emit(encodeNotification('notifications/cancelled', { requestId }), 'notifications/cancelled')
  const channels = ['1', '2', '3', '4'].map(call)
  const held = [await got.take('the first'), await got.take('the second')]
  channels.forEach((channel, index) => { if (index === 0 || index === 2) cancel(channel, String(index + 1)) })
  const cancelled = await got.take('the cancellation of the first')
  t.match(cancelled.message, { method: 'notifications/cancelled', params: { requestId: '1' } })
  for (const each of [cancelled, ...held]) end(each, 202)
  const next = await got.take('the next')
  t.equal(next.message.id, '4', 'the third is passed over')
  end(next, 202)
  const last = call('5')
  end(await got.take('the last'), 202)
  cancel(last, '5')
  t.match((await got.take('its cancellation')).message, { params: { requestId: '5' } })
  t.same(got.empty(), [])
})

async function open (
  t: Test,
  first: string,
  options: Partial<UrlDialOptions> = {}
): Promise<RawServer & { recorder: LinkRecorder, stream: ServerResponse }> {
  let stream: ServerResponse | undefined
  const server = await startRawServer(t, item => {
    if (item.method !== 'GET') return false
    stream = startEvents(item)
    return stream.write(first)
  })
  const recorder = await connect(t, 'sse', `${server.origin}/sse`, options, { 'X-Key': 'sesame' })
  if (stream === undefined) throw new Error('no stream was opened')
  return { ...server, recorder, stream }
}

async function startSdk (t: Test): Promise<string> {
  const transports = new Map<string, SSEServerTransport>()
  const server = createServer((request, response) => {
    void (async () => {
      const path = new URL(request.url ?? '/', 'http://localhost')
      if (request.method === 'GET' && path.pathname === '/sse') {
        const transport = new SSEServerTransport('/messages', response)
        transports.set(transport.sessionId, transport)
        await sdkServer().connect(transport as Parameters<McpServer['connect']>[0])
      } else if (path.pathname === '/messages') {
        await transports
          .get(path.searchParams.get('sessionId') ?? '')
          ?.handlePostMessage(request, response, await read(request))
      } else response.writeHead(404).end('Cannot POST /sse')
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
}

function sdkServer (): McpServer {
  const mcp = new McpServer({ name: 'sdk', version: '1' })
  mcp.registerTool('echo', { inputSchema: { text: z.string() } }, ({ text }) => ({ content: [{ type: 'text', text }] }))
  return mcp
}

async function read (request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString())
}
