import type { AddressInfo } from 'node:net'
import { trace } from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { tool } from '../../../app.js'
import fixture, { gateway, listening } from '../../support/gateway.js'
import { openSession, post, postModern } from '../../support/http-requests.js'
import { call, initialize } from '../../support/messages.js'
import { client, modern } from '../../support/recorder.js'
import { CONNECTIONS } from '../../support/transports.js'
import { recordSpans, type RecordedSpan } from '../../support/tracing.js'

type Json = Record<string, unknown>

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const TRACEPARENT = `00-${TRACE}-${PARENT}-01`

/** A tool that makes a span of its own after it has waited. */
const nested = tool({
  name: 'nested',
  description: 'Traces its own work',
  run: async () => {
    await new Promise(resolve => setImmediate(resolve))
    trace.getTracer('author').startSpan('work').end()
    return 'done'
  }
})

const plugins = [fixture, async (app: FastifyInstance) => app.mcp.tools.add(nested)]

const echo = (): Json => ({ name: 'echo', arguments: { text: 'hi' }, _meta: { traceparent: TRACEPARENT } })

const named = (spans: RecordedSpan[], name: string): RecordedSpan[] => spans.filter(span => span.name === name)

const CALL = { kind: 'SERVER', traceId: TRACE, parentId: PARENT, failed: false, links: [] }
const ECHO = {
  'mcp.method.name': 'tools/call',
  'gen_ai.tool.name': 'echo',
  'gen_ai.operation.name': 'execute_tool',
  'jsonrpc.request.id': '7'
}

t.test('a call is a span of the client\'s trace, on every transport', async t => {
  const spans = recordSpans(t)
  const { app } = await listening(t, { plugins })
  const { port } = app.server.address() as AddressInfo
  const server = { app, port, seen: { counted: 0, hanging: 0, aborted: 0 }, sockets: new Set<never>(), faults: [] }

  const expectSpan = (t: Test, attributes: Json) => {
    const [span, ...others] = named(spans.splice(0), 'tools/call echo')
    t.match(span, CALL)
    t.strictSame({ ...span?.attributes }, { ...ECHO, ...attributes }, 'exactly these attributes')
    t.strictSame(others, [])
  }

  for (const [name, era, open] of CONNECTIONS) {
    t.test(name, async t => {
      const connection = await open(server)
      spans.length = 0
      const params = era === 'modern' ? { ...echo(), _meta: modern({}, { traceparent: TRACEPARENT })._meta } : echo()
      await connection.write(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }))
      t.match(await connection.inbox.next(), { id: 7, result: {} })
      const version = era === 'modern' ? '2026-07-28' : name === 'sse' ? '2024-11-05' : '2025-11-25'
      const network = name.startsWith('stdio')
        ? { 'network.transport': 'pipe' }
        : { 'network.transport': 'tcp', 'network.protocol.name': name.startsWith('websocket') ? 'websocket' : 'http' }
      expectSpan(t, { 'mcp.protocol.version': version, ...network })
      await connection.close()
    })
  }

  const http = { 'network.transport': 'tcp', 'network.protocol.name': 'http' }
  t.test('HTTP in a session', async t => {
    const id = await openSession(port, initialize(), [])
    spans.length = 0
    t.equal((await post(port, '/mcp', call('tools/call', echo())('legacy'), [['Mcp-Session-Id', id]])).status, 200)
    expectSpan(t, { 'mcp.protocol.version': '2025-11-25', ...http })
  })

  t.test('HTTP without a session', async t => {
    const params = { ...echo(), _meta: modern({}, { traceparent: TRACEPARENT })._meta }
    t.equal(
      (await postModern(port, JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }), [])).status,
      200
    )
    expectSpan(t, { 'mcp.protocol.version': '2026-07-28', ...http })
  })
})

t.test('spans that a tool starts are children of the span of its call', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t, { plugins, http: false })
  const callers = [client(app.mcp.dispatcher), client(app.mcp.dispatcher)]
  await Promise.all(callers.map(async ({ request }) => await request('tools/call', { name: 'nested' })))
  const calls = named(spans, 'tools/call nested')
  t.strictSame(
    named(spans, 'work')
      .map(({ traceId, parentId }) => [traceId, parentId])
      .sort(),
    calls.map(({ traceId, spanId }) => [traceId, spanId]).sort()
  )
  t.not(calls[0]?.traceId, calls[1]?.traceId, 'each call without a parent begins a trace')
})

t.test('the span says how the call ended; only faults of the gateway count as errors', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t, { plugins, http: false })
  const { request, ask, send } = client(app.mcp.dispatcher)
  await request('tools/call', { name: 'refuse' })
  await request('tools/call', { name: 'boom' })
  await request('tools/call', { name: 'canary-tool' })
  await request('canary/method')
  await request('prompts/get', { name: 'introduce', arguments: { who: 'canary' } })
  await request('resources/read', { uri: 'test://item/canary' })
  await request('ping')
  const id = ask('tools/call', { name: 'slow', arguments: { delay: 60_000 } })
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  const seen = spans.map(({ name, failed, attributes }) => [
    name,
    attributes['error.type'],
    attributes['rpc.response.status_code'],
    failed
  ])
  t.strictSame(seen, [
    ['tools/call refuse', 'tool_error', undefined, false],
    ['tools/call boom', '-32603', '-32603', true],
    ['tools/call', '-32602', '-32602', false],
    ['_OTHER', '-32601', '-32601', false],
    ['prompts/get introduce', undefined, undefined, false],
    ['resources/read', undefined, undefined, false],
    ['ping', undefined, undefined, false],
    ['tools/call slow', undefined, undefined, false]
  ])
  t.match(spans[4]?.attributes, { 'gen_ai.prompt.name': 'introduce', 'gen_ai.operation.name': undefined })
  t.match(spans[5]?.attributes, { 'mcp.resource.uri': 'test://item/{id}' }, 'as it is registered')
  t.notMatch(JSON.stringify(spans), /canary/, 'nothing that a caller chose')
})
