import { context, SpanStatusCode, type Attributes, type Context, type Span } from '@opentelemetry/api'
import type { Failure } from './failure.js'

// The SDK is the operator's. That it throws must not fail a call.

export function isRecording (span: Span): boolean {
  try {
    return span.isRecording()
  } catch {
    return false
  }
}

export function describe (span: Span, attributes: Attributes): void {
  try {
    span.setAttributes(attributes)
  } catch {}
}

export function rename (span: Span, name: string): void {
  try {
    span.updateName(name)
  } catch {}
}

/** Runs work with a span that has just begun, and ends the span when that throws. */
export function endOnThrow<T> (span: Span, work: () => T): T {
  try {
    return work()
  } catch (error) {
    endSpan(span, undefined)
    throw error
  }
}

export function endSpan (span: Span, failure: Failure | undefined): void {
  if (failure !== undefined && isRecording(span)) markFailed(span, failure)
  try {
    span.end()
  } catch {}
}

// Without the text of the error, which may repeat what a caller sent.
function markFailed (span: Span, { type, code, isFault }: Failure): void {
  describe(span, code === undefined ? { 'error.type': type } : { 'error.type': type, 'rpc.response.status_code': code })
  try {
    if (isFault) span.setStatus({ code: SpanStatusCode.ERROR })
  } catch {}
}

/** Runs the work in a context, once, and returns or throws what it does. */
export function runIn<T> (current: Context, work: () => T): T {
  const step = new Step(work)
  try {
    // With an argument instead of `this`, for which a context manager would bind the function.
    context.with(current, runStep, undefined, step)
  } catch {}
  return step.outcome()
}

const runStep = (step: Step<unknown>): void => step.run()

/** Work that is started by something that may fail before or after it. */
class Step<T> {
  readonly #work: () => T
  #state: 'waiting' | 'done' | 'failed' = 'waiting'
  #value: unknown

  constructor (work: () => T) {
    this.#work = work
  }

  run (): void {
    if (this.#state !== 'waiting') return
    this.#state = 'failed'
    try {
      this.#value = this.#work()
      this.#state = 'done'
    } catch (error) {
      this.#value = error
    }
  }

  outcome (): T {
    this.run()
    if (this.#state === 'failed') throw this.#value
    return this.#value as T
  }
}
