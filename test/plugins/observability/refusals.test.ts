import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { serveStdio, type Options } from '../../../app.js'
import type { Refusal } from '../../../protocol/wire/errors.js'
import { openStream } from '../../support/event-reader.js'
import { gateway, listening } from '../../support/gateway.js'
import { openSession, post, slow } from '../../support/http-session.js'
import { apiKeys } from '../../support/keys.js'
import { modernMeta } from '../../support/modern.js'
import { client } from '../../support/recorder.js'
import { until } from '../../support/wait.js'

const MODERN_LISTEN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }

function observed (app: FastifyInstance): Refusal[] {
  const refusals: Refusal[] = []
  app.mcp.onRefusal(refusal => { refusals.push(refusal) })
  return refusals
}

async function refusing (t: Test, options: Partial<Options> = {}) {
  const { app, url } = await listening(t, options)
  return { app, url, refusals: observed(app) }
}

t.test('rate: a request and a message beyond the rate of a caller', async t => {
  const { app, url, refusals } = await refusing(t, { rate: 1, burst: 1 })
  await until(async () => (await fetch(`${url}/nothing`)).status === 429)
  t.match(refusals[0], { reason: 'rate', status: 429 })
  refusals.length = 0
  const { request } = client(app.mcp.dispatcher, { transport: 'websocket' })
  await until(async () => { await request('tools/list'); return refusals.length > 0 })
  t.strictSame(refusals[0], { reason: 'rate', status: undefined })
})

t.test('tool_rate: a call beyond the rate of a tool', async t => {
  const { app, refusals } = await refusing(t, { toolRates: { echo: 1 } })
  const { request } = client(app.mcp.dispatcher, { transport: 'websocket' })
  await until(async () => {
    await request('tools/call', { name: 'echo', arguments: { text: 'a' } })
    return refusals.length > 0
  })
  t.strictSame(refusals, [{ reason: 'tool_rate', status: undefined }])
})

t.test('in_flight: a call beyond those that a client may have in flight', async t => {
  const { app, url, refusals } = await refusing(t, { limits: { maxInFlight: 1 } })
  const session = await openSession(url)
  const call = session.post(slow(1, 1, 600_000))
  await until(() => [...app.mcp.dispatcher.lifecycle.peers].some(({ inbound }) => inbound.size > 0))
  t.equal((await session.post({ id: 2, method: 'tools/list' })).status, 429)
  t.strictSame(refusals, [{ reason: 'in_flight', status: 429 }])
  await session.end()
  await call.catch(() => {})
})

t.test('pressure: a call, and a request, while the process is overloaded', async t => {
  const { app, url, refusals } = await refusing(t, { limits: { maxRss: 1, maxEventLoopDelay: 100 } })
  await until(() => app.mcp.pressure.level === 'heavy')
  await fetch(`${url}/sse`)
  await client(app.mcp.dispatcher, { transport: 'websocket' }).request('tools/list')
  t.strictSame(refusals, [{ reason: 'pressure', status: 503 }, { reason: 'pressure', status: undefined }])
})

t.test('draining: what comes after the shutdown began', async t => {
  const app = await gateway(t)
  const refusals = observed(app)
  const { request } = client(app.mcp.dispatcher, { transport: 'websocket' })
  const close = app.mcp.dispatcher.lifecycle.drain()
  await request('tools/list')
  await app.inject('/sse')
  await close
  t.strictSame(refusals, [{ reason: 'draining', status: undefined }, { reason: 'draining', status: 503 }])
})

t.test('sessions and streams: those beyond the limits', async t => {
  const { url, refusals } = await refusing(t, { limits: { maxSessions: 1, maxStreams: 1 } })
  const session = await openSession(url)
  await post(url, { id: 0, method: 'initialize', params: {} })
  t.strictSame(refusals, [{ reason: 'sessions', status: 503 }])
  const stream = await session.listen()
  await openStream(`${url}/sse`)
  await post(
    url,
    { id: 2, method: 'subscriptions/listen', params: { notifications: {}, _meta: modernMeta() } },
    MODERN_LISTEN
  )
  t.strictSame(refusals.slice(1), [{ reason: 'streams', status: 503 }, { reason: 'streams', status: 503 }])
  stream.drop()
})

t.test('size: a message that is too large or too deep, on every transport', async t => {
  const { app, url, refusals } = await refusing(t, { maxMessage: 2_000, limits: { maxDepth: 10 } })
  const long = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'a'.repeat(3_000) } })
  const deep = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'ping',
    params: { deep: JSON.parse('['.repeat(20) + ']'.repeat(20)) as unknown }
  })
  for (const body of [long, deep]) {
    await fetch(`${url}/message`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  }
  t.strictSame(refusals, [{ reason: 'size', status: 413 }, { reason: 'size', status: 400 }])
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`)
  await once(socket, 'open')
  socket.send(long)
  await once(socket, 'close')
  t.strictSame(refusals.slice(2), [{ reason: 'size', status: undefined }])
  const input = new PassThrough()
  const { closed } = serveStdio(app.mcp, { input, output: new PassThrough().resume(), maxMessage: 2_000 })
  input.end(`${long}\n`)
  await closed
  t.strictSame(refusals.slice(3), [{ reason: 'size', status: undefined }])
})

t.test('auth and origin: a wrong credential, a foreign page, a foreign Host, also of an upgrade', async t => {
  const { url, refusals } = await refusing(t, { apiKeys })
  await fetch(`${url}/mcp`)
  await fetch(`${url}/mcp`, { headers: { authorization: 'Bearer wrong' } })
  await fetch(`${url}/mcp`, { headers: { origin: 'https://elsewhere.example' } })
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers: { host: 'elsewhere.example' } })
  await once(socket, 'error')
  t.strictSame(refusals, [
    { reason: 'auth', status: 401 },
    { reason: 'auth', status: 401 },
    { reason: 'origin', status: 403 },
    { reason: 'origin', status: 403 }
  ])
})

t.test('connections: those beyond the limit, which get no reply', async t => {
  const { url, refusals } = await refusing(t, { limits: { maxConnectionsPerAddress: 1 } })
  const [first, second] = [
    connect(Number(new URL(url).port), '127.0.0.1'),
    connect(Number(new URL(url).port), '127.0.0.1')
  ]
  await once(second.resume().on('error', () => {}), 'close')
  first.destroy()
  t.strictSame(refusals, [{ reason: 'connections', status: undefined }])
})

t.test('errors about the form of a request or about its target are no refusals', async t => {
  const { app, url, refusals } = await refusing(t)
  const { request } = client(app.mcp.dispatcher)
  await request('tools/call', { name: 'nothing' })
  await request('tools/call', { name: 'boom' })
  await request('no/such')
  await fetch(`${url}/nothing`)
  await fetch(`${url}/mcp`)
  t.strictSame(refusals, [])
})
