import { Writable } from 'node:stream'
import {
  context,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  trace,
  type ContextManager,
  type Span,
  type Tracer
} from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { gateway } from '../../support/gateway.js'
import { callTool } from '../../support/modern.js'
import { client } from '../../support/recorder.js'
import { recordSpans, register } from '../../support/tracing.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

const echo = (meta: object) => ({ name: 'echo', arguments: { text: 'hi' }, _meta: meta })

/** A logger, and what it wrote. */
function logging () {
  const lines: string[] = []
  const out = new Writable({ write: (chunk, _encoding, done) => { lines.push(String(chunk)); done() } })
  return { loggerInstance: pino({ level: 'debug' }, out), lines }
}

t.test('a parent that is malformed or too long is ignored, and appears nowhere', async t => {
  const spans = recordSpans(t)
  const { loggerInstance, lines } = logging()
  const app = await gateway(t, { http: false }, { loggerInstance })
  const { request } = client(app.mcp.dispatcher)
  const good = await request('tools/call', echo({})) as { result: object }
  const wrong = [
    '',
    'canary',
    7,
    null,
    {},
    [`00-${TRACE}-${PARENT}-01`],
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-01-canary`,
    `ff-${TRACE}-${PARENT}-01`,
    `0-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `01-${TRACE}-${PARENT}-01${'canary'.repeat(100)}`,
    `01-${TRACE}-${PARENT}-01-${'canary'.repeat(1_000)}`
  ]
  for (const traceparent of wrong) {
    spans.length = 0
    const { result } = (await request(
      'tools/call',
      echo({ traceparent, tracestate: 'canary=1', baggage: 'canary'.repeat(180_000) })
    )) as { result: object }
    t.strictSame(result, good.result, 'the answer is the same')
    t.match(spans, [{ name: 'tools/call echo', parentId: undefined }], JSON.stringify(traceparent).slice(0, 80))
    t.notMatch(JSON.stringify(spans), /canary/)
  }
  await app.close()
  t.notMatch(lines.join(''), /canary/, 'not in the log either')
})

t.test('a parent of a later version of the format, and its state, are taken', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t, { http: false })
  const { request } = client(app.mcp.dispatcher)
  await request('tools/call', echo({ traceparent: `01-${TRACE}-${PARENT}-01-more`, tracestate: 'vendor=1' }))
  await request('tools/call', echo({ traceparent: `00-${TRACE}-${PARENT}-00`, tracestate: 'x'.repeat(600) }))
  t.match(spans, [{ traceId: TRACE, parentId: PARENT }, { traceId: TRACE, parentId: PARENT }])
})

t.test('the span that is active where a request comes is a link, not the parent', async t => {
  const spans = recordSpans(t)
  const app = await gateway(t)
  const requests = ['first', 'second'].map(name => trace.getTracer('http').startSpan(name))
  await Promise.all(
    requests.map(
      async span =>
        await context.with(
          trace.setSpan(ROOT_CONTEXT, span),
          async () => await callTool(app, 'echo', { text: 'hi' }, { meta: { traceparent: `00-${TRACE}-${PARENT}-01` } })
        )
    )
  )
  await context.with(
    trace.setSpan(ROOT_CONTEXT, requests[0] as Span),
    async () => await callTool(app, 'echo', { text: 'hi' })
  )
  const ids = requests.map(span => span.spanContext().spanId)
  t.match(spans, [
    { parentId: PARENT, links: [ids[0]] },
    { parentId: PARENT, links: [ids[1]] },
    { parentId: undefined, links: [ids[0]] }
  ])
})

t.test('the log line of a call has the ids of its span', async t => {
  const spans = recordSpans(t)
  const { loggerInstance, lines } = logging()
  const app = await gateway(t, { http: false }, { loggerInstance })
  await client(app.mcp.dispatcher).request('tools/call', echo({ traceparent: `00-${TRACE}-${PARENT}-01` }))
  await app.close()
  const line = lines.find(line => line.includes('"audit"')) ?? '{}'
  t.match(JSON.parse(line), { audit: { tool: 'echo' }, trace_id: TRACE, span_id: spans[0]?.spanId, trace_flags: '01' })
})

t.test('an SDK that throws fails no call, and no call is run twice', async t => {
  const thrown = (): never => { throw new Error('the SDK is broken') }
  const ids = { traceId: TRACE, spanId: PARENT, traceFlags: 1 }
  const broken = (works: string[]): Span =>
    new Proxy({} as Span, {
      get: (_target, name) => (name === 'spanContext' ? () => ids : works.includes(String(name)) ? () => true : thrown)
    })
  const tracers: Record<string, () => Tracer> = {
    'at the tracer': thrown,
    'at the start of a span': () => ({ startSpan: thrown, startActiveSpan: thrown }),
    'at all members of a span': () => ({ startSpan: () => broken([]), startActiveSpan: thrown }),
    'when it records': () => ({ startSpan: () => broken(['isRecording']), startActiveSpan: thrown })
  }
  const manager = (run: ContextManager['with']): ContextManager => ({
    active: () => ROOT_CONTEXT,
    with: run,
    bind: (_context, target) => target,
    enable () {
      return this
    },
    disable () {
      return this
    }
  })
  const managers: Record<string, ContextManager> = {
    'before the work': manager(thrown),
    'after the work': manager((_context, work, self, ...args) => {
      work.apply(self, args)
      throw new Error('late')
    }),
    'by running it twice': manager((_context, work, self, ...args) => {
      work.apply(self, args)
      return work.apply(self, args)
    })
  }
  const answers = async (app: FastifyInstance): Promise<unknown[]> => {
    const { request } = client(app.mcp.dispatcher)
    const all = [
      await request('tools/call', echo({})),
      await request('tools/call', { name: 'refuse' }),
      await request('prompts/get', { name: 'nothing' })
    ]
    return all.map(({ id, ...answer }) => answer)
  }
  const expected = await answers(await gateway(t, { http: false }))
  const cases = [
    ...Object.entries(tracers).map(([name, getTracer]) => [name, getTracer, undefined] as const),
    ...Object.entries(managers).map(
      ([name, contexts]) => [name, tracers['when it records'] as () => Tracer, contexts] as const
    )
  ]
  for (const [name, getTracer, contexts] of cases) {
    t.test(name, async t => {
      register(t, { getTracer }, contexts)
      const app = await gateway(t, { http: false })
      let begun = 0
      app.mcp.onBegin(() => { begun++ })
      t.strictSame(await answers(app), expected)
      t.equal(begun, 3)
    })
  }
})

t.test('a span that cannot be used is ended', async t => {
  let started = 0
  let ended = 0
  const unusable = (): Span => new Proxy({} as Span, {
    get: (_target, name) => {
      if (name === 'end') return () => { ended++ }
      return () => { throw new Error('the SDK is broken') }
    }
  })
  register(t, {
    getTracer: () => ({
      startSpan: () => {
        started++
        return unusable()
      },
      startActiveSpan: () => {
        throw new Error('not used')
      }
    })
  })
  const app = await gateway(t, { http: false })
  await client(app.mcp.dispatcher).request('tools/call', echo({}))
  t.strictSame([started, ended], [1, 1])
})

t.test('an SDK that is switched off leaves calls as they are', async t => {
  let started = 0
  const off = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  register(t, {
    getTracer: () => ({
      startSpan: () => {
        started++
        return off
      },
      startActiveSpan: () => {
        throw new Error('not used')
      }
    })
  })
  const app = await gateway(t, { http: false })
  let traced = 0
  app.mcp.onEnd(call => { if (call.trace !== undefined) traced++ })
  await client(app.mcp.dispatcher).request('tools/call', echo({}))
  t.strictSame([started, traced], [1, 0])
})

t.test('the option', async t => {
  const spansOf = async (traces: boolean | undefined): Promise<number> => {
    const { mcp } = await gateway(t, { http: false, ...(traces === undefined ? {} : { traces }) })
    let traced = 0
    mcp.onEnd(call => { if (call.trace !== undefined) traced++ })
    await client(mcp.dispatcher).request('tools/call', echo({}))
    return traced
  }

  t.test('without an SDK no call is traced, and with the option a warning says so', async t => {
    const { loggerInstance, lines } = logging()
    t.equal(await spansOf(undefined), 0)
    const app = await gateway(t, { http: false, traces: true }, { loggerInstance })
    t.match(lines.join(''), /no OpenTelemetry SDK is registered/)
    const spans = recordSpans(t)
    await client(app.mcp.dispatcher).request('tools/call', echo({}))
    t.equal(spans.length, 1, 'and one that is registered later is used')
  })

  t.test('with an SDK calls are traced, unless it is false', async t => {
    recordSpans(t)
    t.strictSame([await spansOf(undefined), await spansOf(true), await spansOf(false)], [1, 1, 0])
  })
})
