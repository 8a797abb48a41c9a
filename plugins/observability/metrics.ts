import fp from 'fastify-plugin'
import { CallMetrics, MAX_TOOLS } from './metrics/call-metrics.js'
import { eventMetrics, upstreamRequestMetrics } from './metrics/event-metrics.js'
import { buildInfo, gauges } from './metrics/gauges.js'
import { ProcessMetrics } from './metrics/process-metrics.js'
import type { StoreMetrics } from './metrics/store-metrics.js'
import { formatFor, FORMATS, writeMetrics } from './metrics/text-formats.js'

export { StoreMetrics } from './metrics/store-metrics.js'

declare module '../core/mcp.js' {
  interface Mcp {
    /** The metrics; only there where option `metrics` is on. */
    metrics: {
      /** All metrics as text, in the format that an `Accept` header asks for. */
      read: (accept: string | undefined) => Promise<{ type: string, text: string }>
    }
  }
}

const TOO_MANY_TOOLS = `more than ${MAX_TOOLS} tools were called: those that follow are counted together in /metrics, as tool "_OTHER"`

/** Measures this gateway until it closes. Each gateway has its own metrics. */
export default fp(async (fastify, { store, version }: { store: StoreMetrics, version: string }) => {
  const { mcp, log } = fastify
  const calls = new CallMetrics(() => log.warn(TOO_MANY_TOOLS))
  const events = eventMetrics(mcp)
  const upstreams = upstreamRequestMetrics(mcp)
  const processMetrics = new ProcessMetrics()
  const own = [
    calls.operations,
    calls.calls,
    ...gauges(mcp, upstreams.unreached),
    buildInfo(version),
    ...events.metrics,
    ...store.metricsOf(mcp.store),
    ...upstreams.metrics
  ]

  mcp.provide('metrics', {
    read: async accept => {
      const format = formatFor(accept)
      const all = [...own, ...await processMetrics.read()]
      return { type: FORMATS[format], text: writeMetrics(all, format) }
    }
  })

  const offEnd = mcp.onEnd((call, ended) => {
    // The call that created a task counts, its work does not.
    if (call.task?.runs !== true) calls.record(call, ended)
  })
  fastify.addHook('onClose', async () => {
    offEnd()
    events.stop()
    upstreams.stop()
    processMetrics.stop()
  })
}, { name: 'patchbay-metrics', dependencies: ['patchbay-mcp'] })
