import { trace, type Tracer } from '@opentelemetry/api'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { CallTrace } from '../../../protocol/wire/trace.js'
import { beginCall } from './call-span.js'

/** The traces of one gateway. Nothing of it throws or rejects. */
export interface Tracing {
  /** Begins the span of a call; undefined while calls are not traced. */
  begin (call: Call): CallTrace | undefined
  /** Lets the SDK send the spans that it still has. */
  flush (): Promise<void>
}

interface Provider {
  getDelegate?: () => Provider
  forceFlush?: () => Promise<void>
}

/** `version` is that of the gateway; `isServed` tells the methods that clients can call from other text. */
export function openTracing (
  version: string,
  isSdkRegistered: () => boolean,
  isServed: (method: string) => boolean
): Tracing {
  let tracer: Tracer | undefined
  return {
    begin: call => {
      try {
        // A tracer that is taken before the SDK is registered never makes a span: the SDK may have another copy of the
        // API.
        if (tracer === undefined && isSdkRegistered()) tracer = trace.getTracer('mcp-patchbay', version)
        return tracer === undefined ? undefined : beginCall(tracer, call, isServed(call.method))
      } catch {
        return undefined
      }
    },
    flush: async () => {
      try {
        const provider = trace.getTracerProvider() as Provider
        await (provider.getDelegate?.() ?? provider).forceFlush?.()
      } catch {}
    }
  }
}
