import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, type Options } from '../../app.js'
import { modern } from '../../protocol/revisions/table.js'
import type { Connection } from '../../upstreams/ports.js'
import { FakeCall } from '../support/fake-upstream.js'
import { gateway } from '../support/gateway.js'
import { inTime, until } from '../support/wait.js'
import {
  answerHandshake,
  end,
  event,
  resultOf,
  sendJson,
  startEvents,
  startRawServer,
  type Got
} from '../transports/client/raw-server.js'

t.test('401 and 500 are no era: the server is asked again, and what it says then counts', async t => {
  const statuses = [401, 500]
  const seen: string[] = []
  const { url } = await startRawServer(t, got => {
    seen.push(got.message.method ?? got.method)
    const status = statuses.shift()
    return status === undefined ? answerModern(got) : end(got, status)
  })
  const app = await gatewayOf(t, url, { limits: { upstreamRestartDelay: 1, upstreamRestartDelayMax: 1 } })
  const connection = await connectionOf(app)
  t.equal(connection.revision, modern)
  t.same(
    seen,
    ['server/discover', 'server/discover', 'initialize', 'server/discover'],
    'initialize is tried once after a 500, never after a 401'
  )
})

/** Ways in which servers of older revisions answer a method that they do not know. */
const BADLY: Record<string, (got: Got) => true> = {
  'status 500': got => end(got, 500),
  'status 501 and an error': got =>
    sendJson(got, { jsonrpc: '2.0', id: null, error: { code: -32603, message: 'hidden' } }, 501),
  'status 503 and a page': got => sendPage(got, 503),
  'status 200 and a page': got => sendPage(got, 200),
  'status 200 and JSON that is no message': got => sendJson(got, { error: 'unknown method' }),
  'status 200 and an empty text of JSON': got => sendText(got, ''),
  'status 200 and JSON that breaks off': got => sendText(got, '{"jsonrpc":'),
  'status 204': got => end(got, 204),
  'an event stream without the response': got => {
    startEvents(got).end(event({ error: 'unknown method' }))
    return true
  }
}

for (const [how, answer] of Object.entries(BADLY)) {
  t.test(`a server of an older revision that answers server/discover with ${how} is listed and called`, async t => {
    const seen: string[] = []
    const { url } = await startRawServer(t, got => {
      const { method, id } = got.message
      if (method !== undefined) seen.push(method)
      if (method === 'server/discover') return answer(got)
      if (method === 'initialize') {
        return sendJson(
          got,
          resultOf(got, {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 'old', version: '1' }
          })
        )
      }
      if (method === 'tools/list') {
        return sendJson(got, resultOf(got, { tools: [{ name: 'x', inputSchema: { type: 'object' } }] }))
      }
      if (method === 'tools/call') return sendJson(got, resultOf(got, { content: [{ type: 'text', text: 'called' }] }))
      return id === undefined
        ? end(got, got.method === 'GET' ? 405 : 202)
        : sendJson(got, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })
    })
    const app = await gatewayOf(t, url)
    const client = await createClient(app)
    t.teardown(() => client.close())
    t.match(await client.request('tools/list'), { tools: [{ name: 'up__x' }] })
    t.match(await client.request('tools/call', { name: 'up__x', arguments: {} }), { content: [{ text: 'called' }] })
    t.match(app.mcp.upstreams.status(), [{ state: 'ready', revision: '2025-06-18', restarts: 0 }])
    t.match((await app.inject('/health')).json(), { status: 'healthy' })
    t.equal(seen.filter(method => method === 'initialize').length, 1)
  })
}

t.test('responses on the streams of other calls answer none of them, and each caller gets its own', async t => {
  const { url, got } = await startRawServer(t, item => item.message.method !== 'tools/call' && answerModern(item))
  const app = await gatewayOf(t, url)
  const connection = await connectionOf(app)
  const calls = ['ada', 'bob'].map(
    async name => await connection.request({ method: 'tools/call', params: { name }, call: new FakeCall(name) })
  )
  const items = [await got.take('a call'), await got.take('another call')]
  const answer = ({ message: { id, params } }: Got) => ({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text: params?.['name'] }], resultType: 'complete' }
  })
  const [first, second] = items.map(startEvents)
  const [one, other] = items as [Got, Got]
  const forged = { ...answer(other), result: { content: [{ type: 'text', text: 'forged' }], resultType: 'complete' } }
  first?.write(event(forged) + event({ ...forged, id: String(other.message.id) }) + event({ ...forged, id: 4711 }))
  first?.end(event(answer(one)))
  // The first call has ended by its own answer, so what was written before it has been read.
  await Promise.race(calls)
  second?.end(event(answer(other)))
  t.match(await Promise.all(calls), [{ content: [{ text: 'ada' }] }, { content: [{ text: 'bob' }] }])
})

t.test('an upstream that wants a credential is reported with what to set, and with no secret', async t => {
  const { url } = await startRawServer(t, got =>
    sendJson(got, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'hidden' } }, 401)
  )
  const app = await gatewayOf(t, `${url}?token=sesame`, {}, { 'X-Key': 'sesame' })
  await until(() => app.mcp.upstreams.status()[0]?.lastError !== undefined)
  const [status] = app.mcp.upstreams.status()
  t.match(status?.lastError, /status 401.*set the header Authorization in "headers"/)
  t.notMatch(JSON.stringify(status), /sesame|127\.0\.0\.1|hidden/)
})

t.test('a session that is lost is opened again once, and the call that was refused is repeated once', async t => {
  let session = 1
  let lost = false
  const seen: string[] = []
  const { url } = await startRawServer(t, got => {
    seen.push(`${got.message.method ?? got.method} ${got.headers['mcp-session-id'] ?? '-'}`)
    if (lost && got.headers['mcp-session-id'] === 'session-1') return end(got, 404)
    if (got.message.method === 'server/discover') return end(got, 400)
    if (got.message.method === 'initialize') return answerHandshake(got, { session: `session-${session++}` })
    return answerHandshake(got) || sendJson(got, resultOf(got, { content: [] }))
  })
  const app = await gatewayOf(t, url)
  const connection = await connectionOf(app)
  lost = true
  const calls = [1, 2, 3].map(
    async () => await connection.request({ method: 'tools/call', params: { name: 'x' }, call: new FakeCall() })
  )
  for (const result of await Promise.all(calls)) t.same(result, { content: [] })
  t.equal(seen.filter(text => text.startsWith('initialize')).length, 2, 'one for each session')
  t.equal(seen.filter(text => text === 'tools/call session-2').length, 3)
  await app.close()
  t.ok(seen.includes('DELETE session-2'))
  t.notOk(seen.includes('DELETE session-1'), 'what is lost is not ended')
})

t.test('as many connections as the option says are used; further calls wait', async t => {
  const { url, got } = await startRawServer(t, item => item.message.method !== 'tools/call' && answerModern(item))
  const app = await gatewayOf(t, url, { limits: { maxUpstreamSockets: 1 } })
  const connection = await connectionOf(app)
  const calls = ['a', 'b'].map(
    async name => await connection.request({ method: 'tools/call', params: { name }, call: new FakeCall() })
  )
  const first = await got.take('a')
  const other = connection.request({
    method: 'tools/call',
    params: { name: 'c' },
    call: new FakeCall(),
    signal: AbortSignal.abort()
  })
  await t.rejects(other)
  t.same(got.empty(), [])
  sendJson(first, resultOf(first, { content: [], resultType: 'complete' }))
  const second = await got.take('b')
  sendJson(second, resultOf(second, { content: [], resultType: 'complete' }))
  await Promise.all(calls)
})

t.test('subscriptions of one caller that are not answered leave connections to others', async t => {
  const { url, got } = await startRawServer(t, item => {
    const { method } = item.message
    if (method === 'initialize') {
      return sendJson(
        item,
        resultOf(item, {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, resources: { subscribe: true } },
          serverInfo: { name: 'raw', version: '1' }
        })
      )
    }
    if (method === 'server/discover') return end(item, 400)
    if (method === 'resources/list') return sendJson(item, resultOf(item, { resources: [] }))
    if (method === 'resources/templates/list') {
      return sendJson(item, resultOf(item, { resourceTemplates: [{ uriTemplate: 'x://{id}', name: 'x' }] }))
    }
    if (method === 'tools/list') {
      return sendJson(item, resultOf(item, { tools: [{ name: 'one', inputSchema: { type: 'object' } }] }))
    }
    if (method === 'tools/call') return sendJson(item, resultOf(item, { content: [] }))
    return method !== 'resources/subscribe' && answerHandshake(item)
  })
  const app = await gatewayOf(t, url, { limits: { maxUpstreamSockets: 4 } })
  await until(() => app.mcp.tools.get('up__one') !== undefined, 'the lists')
  const [bob, ada] = [
    await createClient(app, { identity: { principal: 'bob', scopes: 'all' } }),
    await createClient(app, { identity: { principal: 'ada', scopes: 'all' } })
  ]
  t.teardown(() => { bob.close(); ada.close() })
  const subscribed = Array.from(
    { length: 10 },
    async (_, index) => await bob.request('resources/subscribe', { uri: `x://${index}` })
  )
  await got.take('resources/subscribe')
  t.same(await ada.request('tools/call', { name: 'up__one' }), { content: [] })
  bob.close()
  for (const outcome of await Promise.allSettled(subscribed)) t.equal(outcome.status, 'rejected')
})

t.test(
  'a call that breaks off in the middle fails within a second, names the upstream, and is not sent twice',
  async t => {
    const { url, got } = await startRawServer(t, item => item.message.method !== 'tools/call' && answerModern(item))
    const connection = await connectionOf(await gatewayOf(t, url))
    const call = connection.request({ method: 'tools/call', params: { name: 'a' }, call: new FakeCall() })
    const item = await got.take('call')
    startEvents(item).write(event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }))
    item.socket.destroy()
    await t.rejects(inTime(call, 'the failure'), { message: /\bup\b.*closed before the answer was complete/ })
    t.same(got.empty(), [])
  }
)

t.test('a cancelled call closes its reply', async t => {
  const { url, got } = await startRawServer(t, item => item.message.method !== 'tools/call' && answerModern(item))
  const connection = await connectionOf(await gatewayOf(t, url))
  const controller = new AbortController()
  const call = connection.request({
    method: 'tools/call',
    params: { name: 'a' },
    call: new FakeCall(),
    signal: controller.signal
  })
  call.catch(() => {})
  const { response } = await got.take('call')
  const closed = once(response, 'close')
  controller.abort()
  await inTime(closed, 'the end of the reply')
  await t.rejects(call)
})

function sendPage ({ response }: Got, status: number): true {
  response.writeHead(status, { 'content-type': 'text/html' })
  response.end('<!doctype html><title>hidden</title>')
  return true
}

function sendText ({ response }: Got, text: string): true {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(text)
  return true
}

function answerModern (got: Got): boolean {
  if (got.message.method === 'server/discover') {
    return sendJson(
      got,
      resultOf(got, {
        resultType: 'complete',
        supportedVersions: [modern.version],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: 'private'
      })
    )
  }
  if (got.message.method === 'tools/list') {
    return sendJson(got, resultOf(got, { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' }))
  }
  return sendJson(
    got,
    { jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'Method not found' } },
    404
  )
}

async function gatewayOf (
  t: Test,
  url: string,
  options: Partial<Options> = {},
  headers: Record<string, string> = {}
): Promise<FastifyInstance> {
  return await gateway(t, {
    tools: false,
    plugins: [],
    ephemeral: true,
    mcpServers: { up: { type: 'http', url, headers } },
    ...options
  })
}

async function connectionOf (app: FastifyInstance): Promise<Connection> {
  const upstream = app.mcp.upstreams.get('up')
  if (upstream === undefined) throw new Error('there is no upstream')
  let connection: Connection | undefined
  await until(async () => {
    connection = await upstream.shared().catch(() => undefined)
    return connection !== undefined
  }, 'the connection')
  return connection as Connection
}
