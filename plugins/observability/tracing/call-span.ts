import {
  context,
  INVALID_TRACEID,
  SpanKind,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type SpanOptions,
  type Tracer
} from '@opentelemetry/api'
import type { Call } from '../../../protocol/dispatch/call.js'
import { OTHER, subjectOf } from '../../../protocol/dispatch/call-facts.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { CallTrace, RequestTrace, TracedRequest, TracedSubject } from '../../../protocol/wire/trace.js'
import { firstAttributes, networkAttributes, spanName } from './attributes.js'
import { callFailure } from './failure.js'
import { startRequest } from './request-span.js'
import { describe, endOnThrow, endSpan, isRecording, rename, runIn } from './safely.js'
import { SpanInContext } from './span-in-context.js'
import { flagsOf, parentIn } from './trace-parent.js'

/** Begins the span of a call; undefined where the SDK is switched off. Throws what the SDK throws. */
export function beginCall (tracer: Tracer, call: Call, isServed: boolean): CallTrace | undefined {
  const subject = subjectOf(call)
  // An unknown method may be any text.
  const method = isServed ? call.method : OTHER
  const current = context.active()
  const ambient = trace.getSpanContext(current)
  const parent = parentContext(current, ambient, parentIn(call.meta))
  const span = tracer.startSpan(spanName(method, subject), optionsOf(firstAttributes(method, subject), ambient), parent)
  return endOnThrow(span, () => {
    const ids = span.spanContext()
    if (ids.traceId === INVALID_TRACEID) return undefined
    if (isRecording(span)) describe(span, callAttributes(call, subject))
    return new CallSpan(tracer, call, method, span, ids, new SpanInContext(parent, span), subject)
  })
}

/** The context in which the message came, without its span: that of the HTTP request becomes a link. */
function parentContext (current: Context, ambient: SpanContext | undefined, parent: SpanContext | undefined): Context {
  if (parent !== undefined) return new SpanInContext(current, trace.wrapSpanContext(parent))
  return ambient === undefined ? current : trace.deleteSpan(current)
}

function optionsOf (attributes: Attributes, ambient: SpanContext | undefined): SpanOptions {
  return ambient === undefined || ambient.traceId === INVALID_TRACEID
    ? { kind: SpanKind.SERVER, attributes }
    : { kind: SpanKind.SERVER, attributes, links: [{ context: ambient }] }
}

function callAttributes (call: Call, { resource }: TracedSubject): Attributes {
  const attributes = networkAttributes(call.peer.transport, call.revision.version)
  attributes['jsonrpc.request.id'] = String(call.id)
  if (resource !== undefined) attributes['mcp.resource.uri'] = resource
  return attributes
}

/** Questions are about nothing that is registered. */
const NONE: TracedSubject = Object.freeze({})

class CallSpan implements CallTrace {
  readonly #tracer: Tracer
  /** Of the call, which itself may be gone long before a question that belongs to it. */
  readonly #transport: Call['peer']['transport']
  readonly #version: string
  readonly #method: string
  readonly #span: Span
  readonly #ids: SpanContext
  readonly #context: Context
  /** The subject that the span began with. */
  readonly #subject: TracedSubject

  constructor (
    tracer: Tracer,
    call: Call,
    method: string,
    span: Span,
    ids: SpanContext,
    current: Context,
    subject: TracedSubject
  ) {
    this.#tracer = tracer
    this.#method = method
    this.#subject = subject
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

  run<T>(work: () => T): T {
    return runIn(this.#context, work)
  }

  startQuestion (method: string, params: object | undefined): RequestTrace | undefined {
    // A question of an upstream names a span of the upstream as its parent, where that goes on with this trace.
    const asked = parentIn((params as { _meta?: Params } | undefined)?._meta ?? {})
    const parent =
      asked?.traceId === this.#ids.traceId
        ? new SpanInContext(this.#context, trace.wrapSpanContext(asked))
        : this.#context
    return startRequest(this.#tracer, parent, {
      method,
      params,
      subject: NONE,
      transport: this.#transport,
      version: this.#version
    })
  }

  startRelayed (request: TracedRequest): RequestTrace | undefined {
    return startRequest(this.#tracer, this.#context, request)
  }

  end (
    { outcome, code }: { readonly outcome: string; readonly code?: number | undefined },
    subject: TracedSubject
  ): void {
    if (subject !== this.#subject && isRecording(this.#span)) this.#nameAgain(subject)
    endSpan(this.#span, callFailure(outcome, code))
  }

  // The lists of an upstream may have been read while the call waited.
  #nameAgain (subject: TracedSubject): void {
    rename(this.#span, spanName(this.#method, subject))
    describe(this.#span, firstAttributes(this.#method, subject))
    if (subject.resource !== undefined) describe(this.#span, { 'mcp.resource.uri': subject.resource })
  }
}
