import websocket from '@fastify/websocket'
import t from 'tap'
import { WebSocket } from 'ws'
import { once } from 'node:events'
import Fastify from 'fastify'
import { build, createClient, patchbay, prompt, resource, tool } from '../../app.js'
import { within } from '../support/wait.js'
import { asJson, asStream, host, modernPost } from '../support/host.js'
import { messagesOf } from '../support/event-reader.js'

const EVIL = { host: 'evil.example', origin: 'https://evil.example' }

t.test('everything is served under the prefix, and nothing outside it', async t => {
  const app = await host(t)
  t.equal((await app.inject(asJson)).json().result.structuredContent.text, 'hi')
  t.equal((await app.inject({ url: '/ai/health' })).json().status, 'healthy')
  const list = { method: 'POST' as const, payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }
  t.ok((await app.inject({ ...list, url: '/ai/message' })).json().result.tools.length > 0)
  for (const url of ['/mcp', '/message', '/health', '/ai/ai/mcp']) {
    t.equal((await app.inject({ ...list, url })).statusCode, 404, url)
  }
})

t.test('the first event of HTTP+SSE names the endpoint under the prefix', async t => {
  const app = await host(t)
  const url = await app.listen({ port: 0 })
  const { body } = await fetch(`${url}/ai/sse`)
  let text = ''
  for await (const chunk of body ?? []) {
    if (/sessionId=/.test((text += Buffer.from(chunk as Uint8Array).toString()))) break
  }
  t.match(text, /event: endpoint\ndata: \/ai\/message\?sessionId=/)
})

t.test('the routes of the host are as they were', async t => {
  const app = await host(t)
  t.strictSame((await app.inject({ url: '/own' })).json(), { own: true })
  t.strictSame((await app.inject({ method: 'POST', url: '/own', payload: { a: 1 } })).json(), {
    body: { a: 1 },
    type: 'object'
  })
  t.strictSame(
    (
      await app.inject({ method: 'POST', url: '/own', payload: 'plain', headers: { 'content-type': 'text/plain' } })
    ).json(),
    { body: 'plain', type: 'string' }
  )
  t.equal(
    (await app.inject({ method: 'POST', url: '/own', payload: '{', headers: { 'content-type': 'application/json' } }))
      .statusCode,
    400
  )
  t.equal((await app.inject({ url: '/own', headers: EVIL })).statusCode, 200, 'no guard but its own')
  t.equal((await app.inject({ method: 'HEAD', url: '/own' })).statusCode, 200)
  t.equal((await app.inject({ url: '/nowhere' })).json().error, 'Not Found')
})

t.test('the guard of Host and Origin holds on every route of ours', async t => {
  const app = await host(t)
  for (const url of ['/ai/mcp', '/ai/message', '/ai/sse', '/ai/mcp/sse', '/ai/health']) {
    if (url !== '/ai/health') {
      t.equal((await app.inject({ url, headers: { host: 'evil.example' } })).statusCode, 403, url)
    }
    t.equal(
      (await app.inject({ url, headers: { host: 'localhost', origin: 'https://evil.example' } })).statusCode,
      403,
      url
    )
  }
  t.strictSame(
    (await app.inject({ url: '/ai/health', headers: { host: '192.0.2.7' } })).json(),
    { status: 'healthy', live: true, ready: true },
    'a probe is told how it is, and no more'
  )
  const named = await host(t, undefined, {
    allowedHosts: ['api.example.com'],
    allowedOrigins: ['https://app.example.com']
  })
  t.equal(
    (
      await named.inject({
        url: '/ai/health',
        headers: { host: 'api.example.com:8443', origin: 'https://app.example.com' }
      })
    ).statusCode,
    200
  )
})

t.test('refusals have the form the host gives its errors', async t => {
  const app = await host(t, app => {
    app.setErrorHandler(
      async (error: Error & { statusCode?: number }, request, reply) =>
        await reply.code(error.statusCode ?? 500).send({ problem: error.message, request: request.id })
    )
  })
  const refused = async (status: number, expected: RegExp, request: object) => {
    const response = await app.inject(request)
    t.equal(response.statusCode, status)
    t.match(response.json(), { problem: expected, request: String })
  }
  await refused(415, /Content-Type/, {
    method: 'POST',
    url: '/ai/mcp',
    payload: 'x',
    headers: { 'content-type': 'text/plain' }
  })
  await refused(404, /no such session/, {
    url: '/ai/mcp',
    headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' }
  })
  await refused(406, /Accept/, { url: '/ai/mcp', headers: { accept: 'text/html' } })
  await refused(403, /Host/, { url: '/ai/sse', headers: { host: 'evil.example' } })
  await refused(405, /POST/, { method: 'PUT', url: '/ai/mcp' })
  await refused(413, /4194304 bytes/, { method: 'POST', url: '/ai/message', payload: { pad: 'x'.repeat(5_000_000) } })
  await refused(418, /own mistake/, { url: '/own/broken' })
})

t.test('JSON-RPC errors are replies, which no error handler sees', async t => {
  const app = await host(t, app => { app.setErrorHandler(async () => t.fail('it was called')) })
  const response = await app.inject(modernPost('missing', {}))
  t.match(response.json(), { id: 1, error: { code: -32602, message: /Unknown tool/ } })
})

t.test('the host adds and removes what is served', async t => {
  const app = await host(t)
  app.mcp.tools.add(tool({ name: 'orders', description: 'd', run: () => 'none' }))
  app.mcp.resources.add(resource({ uri: 'host://a', name: 'a', read: () => 'content' }))
  app.mcp.prompts.add(prompt({ name: 'p', get: () => 'text' }))
  app.mcp.method('host/status', {}, () => ({ ok: true }))
  const { request } = await createClient(app)
  t.match(await request('tools/call', { name: 'orders' }), { content: [{ text: 'none' }] })
  t.match(await request('resources/read', { uri: 'host://a' }), { contents: [{ text: 'content' }] })
  t.match(await request('prompts/get', { name: 'p' }), { messages: [{ content: { text: 'text' } }] })
  t.match(await request('host/status'), { ok: true })
  app.mcp.tools.remove('orders')
  await t.rejects(request('tools/call', { name: 'orders' }), { code: -32602 })
})

t.test('a plugin of the host may come after without waiting', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  void app.register(patchbay)
  void app.register(async scope => {
    scope.mcp.tools.add(tool({ name: 'orders', description: 'd', run: () => 'none' }))
  })
  const { request } = await createClient(app)
  t.match(await request('tools/call', { name: 'orders' }), { content: [{ text: 'none' }] })
})

t.test('the built-in tools, resources and prompts come only when they are asked for', async t => {
  for (const [options, built] of [[{}, false], [{ tools: true }, true], [{ tools: undefined }, false]] as const) {
    const app = Fastify()
    t.teardown(async () => await app.close())
    await app.register(patchbay, { prefix: '/ai', ...options } as object)
    await app.ready()
    t.strictSame(
      [app.mcp.tools.names().length > 0, app.mcp.resources.uris().length > 0, app.mcp.prompts.names().length > 0],
      [built, built, built],
      JSON.stringify(options)
    )
  }
  const alone = await build()
  t.teardown(async () => await alone.close())
  t.ok(alone.mcp.tools.names().includes('calculate'), 'a gateway of its own has them')
})

t.test('an encapsulated part of the host can hold all of it, with its own prefix and hooks', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(async scope => {
    scope.addHook('onRequest', async (_request, reply) => { reply.header('x-scope', 'inner') })
    await scope.register(patchbay, { prefix: '/ai' })
  }, { prefix: '/v1' })
  app.get('/own', async () => 'own')
  const health = await app.inject({ url: '/v1/ai/health' })
  t.equal(health.headers['x-scope'], 'inner')
  t.equal((await app.inject({ url: '/own' })).headers['x-scope'], undefined)
})

t.test('a second registration in one scope is refused with an error', async t => {
  const app = Fastify()
  for (const prefix of ['/one', '/two']) void app.register(patchbay, { prefix })
  await t.rejects(async () => await app.ready(), /patchbay is registered here already; register it in two scopes/)
})

t.test('a host that has a decorator of the name mcp is told so', async t => {
  const app = Fastify()
  app.decorate('mcp' as 'own', {})
  void app.register(patchbay, {})
  await t.rejects(async () => await app.ready(), /this application has a decorator "mcp" of its own, .*rename it/)
})

t.test('two scopes may have one each', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  for (const prefix of ['/one', '/two']) {
    await app.register(async scope => {
      await scope.register(patchbay, { prefix })
    })
  }
  for (const prefix of ['/one', '/two']) t.equal((await app.inject({ url: `${prefix}/health` })).statusCode, 200)
})

t.test('a host that has WebSockets already keeps its own', async t => {
  const app = await host(t, async app => {
    await app.register(websocket)
    await app.register(async scope =>
      scope.get('/own/socket', { websocket: true }, socket => {
        socket.on('message', data => socket.send(`own ${String(data)}`))
      })
    )
  })
  const url = (await app.listen({ port: 0 })).replace('http', 'ws')
  t.equal(await answerTo(`${url}/own/socket`, 'hello'), 'own hello')
  t.match(JSON.parse(await answerTo(`${url}/ai/mcp`, '{"jsonrpc":"2.0","id":1,"method":"ping"}')), {
    id: 1,
    result: {}
  })
})

t.test('closing the host answers what is in flight first, on a stream as well', async t => {
  const app = await host(t)
  const url = await app.listen({ port: 0 })
  const { method, headers, payload } = modernPost('slow', { steps: 5, delay: 20 })
  const response = await fetch(`${url}/ai/mcp`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(payload)
  })
  const [text] = await Promise.all([response.text(), app.close()])
  t.match(messagesOf(text).at(-1), { id: 1, result: { content: [{ text: '5 steps' }] } })
})

t.test('a stream has its own type and is not kept anywhere on its way', async t => {
  const { headers } = await (await host(t)).inject(asStream)
  t.match(headers, { 'content-type': 'text/event-stream', 'cache-control': /no-cache/, 'x-accel-buffering': 'no' })
})

async function answerTo (url: string, message: string): Promise<string> {
  const socket = new WebSocket(url)
  return await within(60_000, async signal => {
    await once(socket, 'open', { signal })
    socket.send(message)
    const [data] = await once(socket, 'message', { signal }) as [Buffer]
    socket.close()
    return String(data)
  })
}
