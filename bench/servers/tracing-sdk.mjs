import { trace, TraceFlags } from '@opentelemetry/api'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'

// Registers a provider whose spans record nothing (BENCH_SDK=no-op), or OpenTelemetry's own SDK as docs/observe.md has it, but that spans are encoded and dropped where they would be sent.

const OK = { code: 0 }

const encoder = {
  export (spans, done) {
    Buffer.from(JSON.stringify(spans.map(span => {
      const { name, kind, attributes, startTime, endTime, status, links, parentSpanContext } = span
      const { traceId, spanId } = span.spanContext()
      return { traceId, spanId, parentSpanId: parentSpanContext?.spanId, name, kind, attributes, startTime, endTime, status, links }
    })))
    done(OK)
  },
  shutdown: async () => {}
}

if (process.env.BENCH_SDK === 'no-op') {
  const span = trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: TraceFlags.NONE })
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) })
} else {
  new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(encoder)] }).register()
}
