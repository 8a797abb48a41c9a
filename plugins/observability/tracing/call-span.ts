import { context, INVALID_TRACEID, SpanKind, trace, type Attributes, type Context, type Span, type SpanContext, type SpanOptions, type Tracer } from '@opentelemetry/api'
import type { Call } from '../../../protocol/dispatch/call.js'
import { subjectOf } from '../../../protocol/dispatch/observed/call-facts.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { CallTrace, RequestTrace, TracedRequest } from '../../../protocol/peer/trace.js'
import { OTHER } from '../other.js'
import { firstAttributes, networkAttributes } from './attributes.js'
import { callFailure } from './failure.js'
import { startRequest } from './request-span.js'
import { describe, endSpan, isRecording, runIn } from './safely.js'
import { SpanInContext } from './span-in-context.js'
import { flagsOf, parentIn } from './trace-parent.js'

/** Begins the span of a call; undefined where the SDK is switched off. Throws what the SDK throws. */
export function beginCall (tracer: Tracer, call: Call, isServed: boolean): CallTrace | undefined {
  const { tool, prompt, resource } = subjectOf(call)
  // An unknown method may be any text.
  const method = isServed ? call.method : OTHER
  const target = tool ?? prompt
  const current = context.active()
  const ambient = trace.getSpanContext(current)
  const parent = parentContext(current, ambient, parentIn(call.meta))
  const span = tracer.startSpan(target === undefined ? method : method + ' ' + target, optionsOf(firstAttributes(method, tool, prompt), ambient), parent)
  const ids = span.spanContext()
  if (ids.traceId === INVALID_TRACEID) return undefined
  if (isRecording(span)) describe(span, callAttributes(call, resource))
  return new CallSpan(tracer, call, span, ids, new SpanInContext(parent, span))
}

/** What is current where the message came, but for its span: that of the HTTP request becomes a link. */
function parentContext (current: Context, ambient: SpanContext | undefined, parent: SpanContext | undefined): Context {
  if (parent !== undefined) return new SpanInContext(current, trace.wrapSpanContext(parent))
  return ambient === undefined ? current : trace.deleteSpan(current)
}

function optionsOf (attributes: Attributes, ambient: SpanContext | undefined): SpanOptions {
  return ambient === undefined || ambient.traceId === INVALID_TRACEID
    ? { kind: SpanKind.SERVER, attributes }
    : { kind: SpanKind.SERVER, attributes, links: [{ context: ambient }] }
}

function callAttributes (call: Call, resource: string | undefined): Attributes {
  const attributes = networkAttributes(call.peer.transport, call.revision.version)
  attributes['jsonrpc.request.id'] = String(call.id)
  if (resource !== undefined) attributes['mcp.resource.uri'] = resource
  return attributes
}

class CallSpan implements CallTrace {
  readonly #tracer: Tracer
  /** Of the call, which itself may be gone long before a question that belongs to it. */
  readonly #transport: Call['peer']['transport']
  readonly #version: string
  readonly #span: Span
  readonly #ids: SpanContext
  readonly #context: Context

  constructor (tracer: Tracer, call: Call, span: Span, ids: SpanContext, current: Context) {
    this.#tracer = tracer
    this.#transport = call.peer.transport
    this.#version = call.revision.version
    this.#span = span
    this.#ids = ids
    this.#context = current
  }

  get traceId (): string {
    return this.#ids.traceId
  }

  get spanId (): string {
    return this.#ids.spanId
  }

  get flags (): string {
    return flagsOf(this.#ids.traceFlags)
  }

  run<T> (work: () => T): T {
    return runIn(this.#context, work)
  }

  startQuestion (method: string, params: object | undefined): RequestTrace | undefined {
    // What an upstream asks names a span of the upstream as its parent, where that goes on with this trace.
    const asked = parentIn((params as { _meta?: Params } | undefined)?._meta ?? {})
    const parent = asked?.traceId === this.#ids.traceId ? new SpanInContext(this.#context, trace.wrapSpanContext(asked)) : this.#context
    return startRequest(this.#tracer, parent, { method, params, tool: undefined, prompt: undefined, transport: this.#transport, version: this.#version })
  }

  startRelayed (request: TracedRequest): RequestTrace | undefined {
    return startRequest(this.#tracer, this.#context, request)
  }

  end ({ outcome, code }: { readonly outcome: string, readonly code?: number | undefined }): void {
    endSpan(this.#span, callFailure(outcome, code))
  }
}
