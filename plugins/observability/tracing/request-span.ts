import { INVALID_TRACEID, SpanKind, type Context, type Span, type Tracer } from '@opentelemetry/api'
import type { Id, Params } from '../../../protocol/wire/jsonrpc.js'
import type { RequestTrace, TracedRequest } from '../../../protocol/wire/trace.js'
import { firstAttributes, networkAttributes, spanName } from './attributes.js'
import { errorFailure, resultFailure } from './failure.js'
import { describe, endOnThrow, endSpan, isRecording, runIn } from './safely.js'
import { SpanInContext } from './span-in-context.js'
import { withParent } from './trace-parent.js'

/** Begins the span of a request to a client or an upstream; undefined where there can be none. */
export function startRequest (
  tracer: Tracer,
  parent: Context,
  { method, params, subject, transport, version }: TracedRequest
): RequestTrace | undefined {
  try {
    const span = tracer.startSpan(
      spanName(method, subject),
      { kind: SpanKind.CLIENT, attributes: firstAttributes(method, subject) },
      parent
    )
    return endOnThrow(span, () => {
      const ids = span.spanContext()
      if (ids.traceId === INVALID_TRACEID) return undefined
      if (isRecording(span)) describe(span, networkAttributes(transport, version))
      return new RequestSpan(span, new SpanInContext(parent, span), withParent(params, ids))
    })
  } catch {
    return undefined
  }
}

class RequestSpan implements RequestTrace {
  readonly params: Params
  readonly #span: Span
  readonly #context: Context

  constructor (span: Span, current: Context, params: Params) {
    this.#span = span
    this.#context = current
    this.params = params
  }

  run<T> (work: () => T): T {
    return runIn(this.#context, work)
  }

  setId (id: Id): void {
    if (isRecording(this.#span)) describe(this.#span, { 'jsonrpc.request.id': String(id) })
  }

  async endWith<T> (answer: Promise<T>): Promise<T> {
    try {
      const result = await answer
      endSpan(this.#span, resultFailure(result))
      return result
    } catch (error) {
      endSpan(this.#span, errorFailure(error))
      throw error
    }
  }

  end (): void {
    endSpan(this.#span, undefined)
  }
}
