import t from 'tap'
import { gateway, listening } from '../../support/gateway.js'
import { callTool } from '../../support/modern.js'
import { client, revision, type Json } from '../../support/recorder.js'
import { recordSpans, type RecordedSpan } from '../../support/tracing.js'
import { inFrontOf } from '../../support/upstreams.js'
import { until } from '../../support/wait.js'
import { addUpstream } from '../../upstreams/relay/fake-upstream.js'
import { RelayClient } from '../../upstreams/relay/relay-client.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const _meta = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=1', baggage: 'a=b' }

const spanOf = (spans: RecordedSpan[], name: string, kind = 'SERVER'): RecordedSpan => {
  const span = spans.find(span => span.name === name && span.kind === kind)
  if (span === undefined) throw new Error(`no ${kind} span ${name} of ${spans.map(({ name }) => name).join(', ')}`)
  return span
}

const traceparentOf = ({ traceId, spanId }: RecordedSpan): string => `00-${traceId}-${spanId}-01`

t.test('a question to the client is a span inside of the call, and names it', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t, { http: false })
  const { peer, channel, ask, send } = client(app.mcp.dispatcher, {
    revision: revision('2025-11-25'),
    transport: 'websocket'
  })
  peer.open(revision('2025-11-25'), undefined, { elicitation: {}, sampling: {}, roots: {} })
  for (const [name, method, result] of [
    ['ask_name', 'elicitation/create', { action: 'accept', content: { name: 'Ada' } }],
    [
      'ask_model',
      'sampling/createMessage',
      { role: 'assistant', model: 'm', content: { type: 'text', text: 'Paris' } }
    ],
    ['ask_roots', 'roots/list', { roots: [] }]
  ] as const) {
    spans.length = 0
    ask('tools/call', { name, _meta })
    const question = (await channel.next()) as { id: number, method: string, params: { _meta: Json } }
    send({ jsonrpc: '2.0', id: question.id, result })
    t.match(await channel.next(), { result: { isError: false } }, name)
    const span = spanOf(spans, method, 'CLIENT')
    t.match(span, { traceId: TRACE, parentId: spanOf(spans, `tools/call ${name}`).spanId, failed: false })
    t.strictSame(
      { ...span.attributes },
      {
        'mcp.method.name': method,
        'mcp.protocol.version': '2025-11-25',
        'network.transport': 'tcp',
        'network.protocol.name': 'websocket',
        'jsonrpc.request.id': String(question.id)
      }
    )
    t.strictSame({ ...question.params._meta }, { traceparent: traceparentOf(span), tracestate: 'vendor=1' })
  }
})

t.test('a question that the client answers with an error is a span that failed', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t, { http: false })
  const { peer, channel, ask, send } = client(app.mcp.dispatcher, { revision: revision('2025-11-25') })
  peer.open(revision('2025-11-25'), undefined, { roots: {} })
  ask('tools/call', { name: 'ask_roots' })
  const { id } = await channel.next()
  send({ jsonrpc: '2.0', id, error: { code: -32050, message: 'canary' } })
  await channel.next()
  const span = spanOf(spans, 'roots/list', 'CLIENT')
  t.ok(span.failed)
  t.type(span.attributes['error.type'], 'string')
  t.notMatch(JSON.stringify(spans), /canary/)
})

t.test('a question inside of a result names a span of the call, too', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t)
  const asked = await callTool(app, 'ask_name', {}, { meta: _meta })
  const { inputRequests, requestState } = asked.result as {
    inputRequests: { user_name: { params: { _meta: Json } } }
    requestState: string
  }
  const span = spanOf(spans, 'elicitation/create', 'CLIENT')
  t.match(span, { traceId: TRACE, parentId: spanOf(spans, 'tools/call ask_name').spanId })
  t.strictSame(
    { ...inputRequests.user_name.params._meta },
    { traceparent: traceparentOf(span), tracestate: 'vendor=1' }
  )
  spans.length = 0
  const answered = await callTool(
    app,
    'ask_name',
    {},
    { meta: _meta, requestState, inputResponses: { user_name: { action: 'accept', content: { name: 'Ada' } } } }
  )
  t.match(answered.result, { content: [{ text: 'Hello, Ada!' }] })
  t.match(spans.map(({ name }) => name), ['tools/call ask_name'])
})

t.test('a call that goes on to an upstream is one trace: each hop the child of the one before', async t => {
  const spans = recordSpans(t)
  const { url } = await listening(t)
  const { app } = await inFrontOf(t, { far: { url: `${url}/mcp` } })
  for (const [era, send] of Object.entries({
    modern: async () => (await callTool(app, 'far__echo', { text: 'hi' }, { meta: _meta })).result,
    legacy: async () =>
      (await client(app.mcp.dispatcher).request('tools/call', { name: 'far__echo', arguments: { text: 'hi' }, _meta }))
        .result
  })) {
    spans.length = 0
    t.match(await send(), { structuredContent: { text: 'hi' } }, era)
    const near = spanOf(spans, 'tools/call far__echo')
    const hop = spanOf(spans, 'tools/call echo', 'CLIENT')
    const far = spanOf(spans, 'tools/call echo')
    t.strictSame([near.traceId, hop.traceId, far.traceId], [TRACE, TRACE, TRACE])
    t.strictSame([near.parentId, hop.parentId, far.parentId], [PARENT, near.spanId, hop.spanId])
    t.match(hop.attributes, { 'gen_ai.tool.name': 'echo', 'network.transport': 'tcp', 'network.protocol.name': 'http' })
  }
  spans.length = 0
  await callTool(app, 'far__refuse')
  t.match(spanOf(spans, 'tools/call refuse', 'CLIENT'), { failed: true, attributes: { 'error.type': 'tool_error' } })
})

t.test('a call that comes before the lists of its upstream are read has its name in the end', async t => {
  const spans = recordSpans(t)
  const { url } = await listening(t)
  const app = await gateway(t, { plugins: [], tools: false, mcpServers: { far: { url: `${url}/mcp` } } })
  t.equal(app.mcp.tools.get('far__echo'), undefined, 'they are not read yet')
  t.match((await callTool(app, 'far__echo', { text: 'hi' }, { meta: _meta })).result, {
    structuredContent: { text: 'hi' }
  })
  const span = spanOf(spans, 'tools/call far__echo')
  t.match(span, {
    traceId: TRACE,
    parentId: PARENT,
    attributes: { 'gen_ai.tool.name': 'far__echo', 'gen_ai.operation.name': 'execute_tool' }
  })
})

t.test('a question of a stateless upstream names a span of the call, too', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t)
  const { connection } = addUpstream(app, '2026-07-28')
  const { answer } = new RelayClient(app, '2026-07-28').call({}, { meta: _meta })
  const { resolve } = await connection.arrived.next()
  const params = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } }
  resolve({ resultType: 'input_required', inputRequests: { key: { method: 'elicitation/create', params, more: 1 } } })
  const { result } = await answer
  const span = spanOf(spans, 'elicitation/create', 'CLIENT')
  t.equal(span.parentId, spanOf(spans, 'tools/call files__tool').spanId)
  t.strictSame(result.inputRequests, {
    key: {
      method: 'elicitation/create',
      params: { ...params, _meta: { traceparent: traceparentOf(span), tracestate: 'vendor=1' } },
      more: 1
    }
  })
})

t.test('a request to an upstream that was taken back is no failure', async t => {
  const spans = recordSpans(t)
  const { url } = await listening(t)
  const { app } = await inFrontOf(t, { far: { url: `${url}/mcp` } })
  const caller = client(app.mcp.dispatcher)
  const id = caller.ask('tools/call', { name: 'far__slow', arguments: { ms: 60_000 }, _meta })
  await until(() => app.mcp.dispatcher.callsInFlight().length === 1)
  caller.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  await until(() => spans.some(({ kind, name }) => kind === 'CLIENT' && name === 'tools/call slow'))
  t.notOk(spanOf(spans, 'tools/call slow', 'CLIENT').failed)
})
