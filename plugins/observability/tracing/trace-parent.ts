import { createTraceState, INVALID_SPANID, INVALID_TRACEID, TraceFlags, type SpanContext } from '@opentelemetry/api'

/** `00-TRACE-SPAN-FLAGS`; a later version may have more after another dash. https://www.w3.org/TR/trace-context/ */
const FORMAT = /^(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/
const LENGTH = 55
/** The most characters of a `traceparent` of a later version, and of a `tracestate`. */
const MAX_LENGTH = 512

type Meta = Readonly<Record<string, unknown>>

/**
 * The span that the sender of a message with this `_meta` names as the parent. What is malformed or too long is
 * ignored.
 */
export function parentIn ({ traceparent, tracestate }: Meta): SpanContext | undefined {
  if (
    typeof traceparent !== 'string' ||
    traceparent.length < LENGTH ||
    traceparent.length > MAX_LENGTH ||
    !FORMAT.test(traceparent)
  ) { return undefined }
  if (traceparent.length > LENGTH && traceparent.startsWith('00')) return undefined
  const traceId = traceparent.slice(3, 35)
  const spanId = traceparent.slice(36, 52)
  if (traceId === INVALID_TRACEID || spanId === INVALID_SPANID) return undefined
  const parent: SpanContext = {
    traceId,
    spanId,
    traceFlags: parseInt(traceparent.slice(53, 55), 16) & TraceFlags.SAMPLED,
    isRemote: true
  }
  if (typeof tracestate === 'string' && tracestate !== '' && tracestate.length <= MAX_LENGTH) {
    parent.traceState = createTraceState(tracestate)
  }
  return parent
}

/** The params with a `_meta` that names this span as the parent, instead of another that it may name. */
export function withParent (
  params: object | undefined,
  { traceId, spanId, traceFlags, traceState }: SpanContext
): Record<string, unknown> {
  const { _meta, ...others } = (params ?? {}) as { _meta?: Meta }
  const { traceparent, tracestate, ...meta } = _meta ?? {}
  const state = traceState?.serialize() ?? ''
  return {
    ...others,
    _meta: {
      ...meta,
      traceparent: `00-${traceId}-${spanId}-${flagsOf(traceFlags)}`,
      ...(state === '' ? {} : { tracestate: state })
    }
  }
}

/** The flags as two hexadecimal digits. */
export const flagsOf = (flags: number): string => (flags & TraceFlags.SAMPLED) === 0 ? '00' : '01'
