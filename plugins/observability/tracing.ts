import fp from 'fastify-plugin'
import { subjectOf } from '../../protocol/dispatch/call-facts.js'
import { withTimeout } from '../../lib/time.js'

export interface TracingOptions {
  /** Undefined: when an OpenTelemetry SDK is registered. */
  traces: boolean | undefined
}

/** Where all copies of the OpenTelemetry API of major version 1 find what an SDK has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
/** How long the shutdown waits for the last spans to be sent, in milliseconds. */
const FLUSH_WAIT = 2_000
const NO_SDK =
  'traces are on, but no OpenTelemetry SDK is registered, so none are made: start with node --import ./otel.mjs (docs/observe.md)'

/**
 * Makes a span of each call with the OpenTelemetry SDK that the operator has registered. Without one nothing is loaded.
 */
export default fp(async (fastify, { traces }: TracingOptions) => {
  if (!(traces ?? isSdkRegistered())) return
  const { mcp, log } = fastify
  const { dispatcher } = mcp
  const { openTracing } = await import('./tracing/open-tracing.js')
  const { begin, flush } = openTracing(dispatcher.server.info.version, isSdkRegistered, method =>
    dispatcher.serves(method)
  )
  mcp.onBegin(call => { call.trace = begin(call) })
  mcp.onEnd((call, ended) => call.trace?.end(ended, subjectOf(call)))
  fastify.addHook('onReady', async () => { if (!isSdkRegistered()) log.warn(NO_SDK) })
  // The command ends its process, which a `beforeExit` listener of the operator would not see.
  fastify.addHook('onClose', async () => await withTimeout(flush(), FLUSH_WAIT, () => {}))
}, { name: 'patchbay-tracing', dependencies: ['patchbay-mcp'] })

function isSdkRegistered (): boolean {
  const registered = (globalThis as Record<symbol, unknown>)[REGISTERED]
  return typeof registered === 'object' && registered !== null && 'trace' in registered
}
