import { once } from 'node:events'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { createClient, patchbay, type Options } from '../../../app.js'
import { modernMeta } from '../../support/modern.js'
import { until } from '../../support/wait.js'

const HEADERS = { 'mcp-protocol-version': '2025-11-25' }
const hello = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } }
const call = (id: number, name = 'get_own_guarded'): object =>
  ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } })

async function guarded (t: Test, options: Partial<Options> = {}): Promise<FastifyInstance> {
  const app = Fastify({ trustProxy: true })
  t.teardown(async () => await app.close())
  await app.register(patchbay, { prefix: '/ai', grace: 100, routes: { include: ['/own/*'] }, ...options })
  app.get('/own/guarded', {
    onRequest: async (_request, reply) => { await reply.code(401).header('www-authenticate', 'Bearer realm="shop"').send({ message: 'log in' }) }
  }, async () => 'never')
  app.get('/own/address', async ({ ip }) => ({ ip }))
  await app.ready()
  return app
}

const FAILED = { result: { isError: true, content: [{ text: /HTTP 401 Unauthorized\n.*log in/ }] } }

t.test('a 401 of a hook is a failed result in a batch, where there is no single status', async t => {
  const app = await guarded(t)
  const alone = await app.inject({ method: 'POST', url: '/ai/message', payload: call(1) })
  t.match(alone, { statusCode: 401, headers: { 'www-authenticate': 'Bearer realm="shop"' } })
  const batch = await app.inject({ method: 'POST', url: '/ai/message', payload: [call(1), call(2, 'get_own_address')] })
  t.equal(batch.statusCode, 200)
  t.match(batch.json<Array<{ id: number }>>().sort((a, b) => a.id - b.id), [
    { id: 1, ...FAILED }, { id: 2, result: { content: [{ text: '{"ip":"127.0.0.1"}' }] } }
  ])
})

t.test('a 401 of a hook in a session, which answers as a stream, is a failed result; as JSON it is the status', async t => {
  const app = await guarded(t)
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } }
  const opened = await app.inject({ method: 'POST', url: '/ai/mcp', headers: { accept: 'application/json, text/event-stream' }, payload: initialize })
  const session = { ...HEADERS, 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  const reply = await app.inject({ method: 'POST', url: '/ai/mcp', headers: { ...session, accept: 'application/json, text/event-stream' }, payload: call(1) })
  if (reply.statusCode === 200) t.match(reply.body, /"isError":true/)
  else t.match(reply, { statusCode: 401, headers: { 'www-authenticate': 'Bearer realm="shop"' } })
  t.match(reply.body, /HTTP 401 Unauthorized/)
})

t.test('a 401 of a hook over a WebSocket, and in the same process, is a failed result', async t => {
  const app = await guarded(t, { grace: 50 })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ai/mcp`)
  await once(socket, 'open')
  const answers: unknown[] = []
  const answered = new Promise<void>(resolve => socket.on('message', (data: Buffer) => {
    answers.push(JSON.parse(String(data)))
    if (answers.length === 2) resolve()
  }))
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } } }))
  socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  socket.send(JSON.stringify(call(1)))
  await answered
  t.match(answers[1], { id: 1, ...FAILED })
  socket.terminate()
  const client = await createClient(app)
  await t.rejects(client.call('get_own_guarded', {}), /HTTP 401 Unauthorized/)
  client.close()
})

t.test('request.ip is the address of the caller, as the proxy says it, by every way to the tool', async t => {
  const app = await guarded(t, { rest: true })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const [json, both] = [{ 'content-type': 'application/json' }, { accept: 'application/json, text/event-stream' }]
  const post = async (path: string, headers: Record<string, string>, body: object): Promise<Response> =>
    await fetch(`${url}/ai${path}`, { method: 'POST', headers: { ...json, ...both, ...headers }, body: JSON.stringify(body) })
  const ways: Record<string, (headers: Record<string, string>) => Promise<string>> = {
    'POST /mcp, stateless': async headers => await (await post('/mcp', {
      ...headers, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'get_own_address'
    }, { ...call(1, 'get_own_address'), params: { name: 'get_own_address', arguments: {}, _meta: modernMeta() } })).text(),
    'POST /mcp, in a session': async headers => {
      const opened = await post('/mcp', {}, hello)
      const session = { ...HEADERS, 'mcp-session-id': String(opened.headers.get('mcp-session-id')) }
      return await (await post('/mcp', { ...headers, ...session }, call(1, 'get_own_address'))).text()
    },
    'POST /message': async headers => await (await post('/message', headers, call(1, 'get_own_address'))).text(),
    'a batch': async headers => await (await post('/message', headers, [call(1, 'get_own_address')])).text(),
    'plain HTTP': async headers =>
      await (await post('/api/tools/get_own_address', { ...headers, accept: '*/*' }, {})).text(),
    'HTTP+SSE': async headers => {
      const ended = new AbortController()
      const stream = await fetch(`${url}/ai/sse`, { headers: { accept: 'text/event-stream' }, signal: ended.signal })
      let read = ''
      const reading = (async () => {
        const chunks = stream.body as unknown as AsyncIterable<Uint8Array>
        for await (const chunk of chunks) read += Buffer.from(chunk).toString()
      })().catch(() => {})
      await until(() => read.includes('sessionId='))
      const id = /sessionId=([\w.-]+)/.exec(read)?.[1] ?? ''
      await post(`/message?sessionId=${id}`, {}, { ...hello, params: { ...hello.params, protocolVersion: '2024-11-05' } })
      await post(`/message?sessionId=${id}`, headers, call(1, 'get_own_address'))
      await until(() => /ip\W+\d+\./.test(read))
      ended.abort()
      await reading
      return read
    },
    'a WebSocket': async headers => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/ai/mcp`, { headers })
      await once(socket, 'open')
      socket.send(JSON.stringify(hello))
      await once(socket, 'message')
      socket.send(JSON.stringify(call(1, 'get_own_address')))
      const [answer] = await once(socket, 'message') as [Buffer]
      socket.terminate()
      return String(answer)
    }
  }
  for (const [name, ask] of Object.entries(ways)) {
    t.match(await ask({}), /ip\W+127\.0\.0\.1\W/, name)
    t.match(await ask({ 'x-forwarded-for': '203.0.113.9' }), /ip\W+203\.0\.113\.9\W/, `${name}, through a proxy`)
  }
})

t.test('request.ip is of no machine that is trusted where it is not known', async t => {
  const app = await guarded(t)
  const ada = await createClient(app, { identity: { principal: 'ada', scopes: 'all' } })
  t.match(await ada.call('get_own_address', {}), { output: { ip: '0.0.0.0' } })
  ada.close()
  for (const [address, ip] of [['198.51.100.7', '198.51.100.7'], ['2001:db8:0:0::/64', '0.0.0.0']] as const) {
    const anonymous = await createClient(app, { identity: { principal: undefined, scopes: 'all', address } })
    t.match(await anonymous.call('get_own_address', {}), { output: { ip } })
    anonymous.close()
  }
  const own = await createClient(app)
  t.match(await own.call('get_own_address', {}), { output: { ip: '127.0.0.1' } }, 'a program in this process')
  own.close()
})
