import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import t from 'tap'
import { createClient, tool, ToolError } from '../../../app.js'
import { gateway } from '../../support/gateway.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

t.test(
  "the SDK of OpenTelemetry gets the spans of calls, as children of the client's and parents of the author's",
  async t => {
    const exporter = new InMemorySpanExporter()
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    provider.register()
    t.teardown(async () => {
      for (const api of [trace, context, propagation]) api.disable()
      await provider.shutdown()
    })
    const app = await gateway(t)
    app.mcp.tools.add(
      tool({
        name: 'nested',
        description: 'Traces its own work',
        run: async () => {
          await new Promise(resolve => setImmediate(resolve))
          trace.getTracer('author').startSpan('work').end()
          throw new ToolError('after its work')
        }
      })
    )
    const client = await createClient(app)
    exporter.reset()
    await client.request('tools/call', { name: 'nested', _meta: { traceparent: `00-${TRACE}-${PARENT}-01` } })
    const [work, call] = exporter.getFinishedSpans()
    t.match(call, {
      name: 'tools/call nested',
      kind: 1,
      status: { code: 0 },
      attributes: { 'gen_ai.tool.name': 'nested', 'error.type': 'tool_error' },
      parentSpanContext: { traceId: TRACE, spanId: PARENT }
    })
    t.match(work, { name: 'work', parentSpanContext: { traceId: TRACE, spanId: call?.spanContext().spanId } })
  }
)
