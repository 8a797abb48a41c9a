import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type ContextManager,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type Tracer,
  type TracerProvider
} from '@opentelemetry/api'
import type { Test } from 'tap'

/** A span as it was when it ended. */
export interface RecordedSpan {
  name: string
  kind: keyof typeof SpanKind
  traceId: string
  spanId: string
  parentId: string | undefined
  attributes: Attributes
  failed: boolean
  /** The rest of what it was given: the message of its status, events and errors, attributes of links. */
  notes: unknown[]
  /** The ids of the spans that it is linked to. */
  links: string[]
}

/** Registers an SDK for the time of a test; gives what it recorded, in the order in which spans ended. */
export function recordSpans (t: Test): RecordedSpan[] {
  const spans: RecordedSpan[] = []
  register(t, { getTracer: () => recorder(spans) }, new AsyncContexts())
  return spans
}

/** Registers any provider, for the time of a test. */
export function register (t: Test, provider: TracerProvider, contexts?: ContextManager): void {
  trace.setGlobalTracerProvider(provider)
  if (contexts !== undefined) context.setGlobalContextManager(contexts)
  t.teardown(() => {
    trace.disable()
    context.disable()
  })
}

let lastId = 0
const newId = (digits: number): string => (++lastId).toString(16).padStart(digits, '0')

function recorder (spans: RecordedSpan[]): Tracer {
  const startSpan = (name: string, options: SpanOptions = {}, current: Context = context.active()): Span => {
    const parent = trace.getSpanContext(current)
    const ids = {
      traceId: parent?.traceId ?? newId(32),
      spanId: newId(16),
      traceFlags: 1,
      ...(parent?.traceState === undefined ? {} : { traceState: parent.traceState })
    }
    return new MadeSpan(name, options, ids, parent?.spanId, spans)
  }
  return { startSpan, startActiveSpan: () => { throw new Error('not used') } }
}

class MadeSpan implements Span {
  #name: string
  readonly #options: SpanOptions
  readonly #ids: SpanContext
  readonly #parentId: string | undefined
  readonly #spans: RecordedSpan[]
  readonly #attributes: Attributes
  readonly #notes: unknown[] = []
  #failed = false
  #ended = false

  constructor (
    name: string,
    options: SpanOptions,
    ids: SpanContext,
    parentId: string | undefined,
    spans: RecordedSpan[]
  ) {
    this.#name = name
    this.#options = options
    this.#ids = ids
    this.#parentId = parentId
    this.#spans = spans
    this.#attributes = { ...options.attributes }
  }

  spanContext = (): SpanContext => this.#ids
  isRecording = (): boolean => !this.#ended
  addEvent = (...event: unknown[]): this => this.#note(...event)
  recordException = (error: unknown): void => {
    this.#note(String(error), error)
  }

  updateName = (name: string): this => {
    this.#name = name
    return this
  }

  setAttribute = (name: string, value: Attributes[string]): this => this.setAttributes({ [name]: value })

  setAttributes = (attributes: Attributes): this => {
    Object.assign(this.#attributes, attributes)
    return this
  }

  setStatus = ({ code, message }: SpanStatus): this => {
    this.#failed = code === SpanStatusCode.ERROR
    return message === undefined ? this : this.#note(message)
  }

  #note (...notes: unknown[]): this {
    this.#notes.push(...notes)
    return this
  }

  end = (): void => {
    if (this.#ended) throw new Error('ended twice')
    this.#ended = true
    const { kind = SpanKind.INTERNAL, links = [] } = this.#options
    const { traceId, spanId } = this.#ids
    this.#spans.push({
      name: this.#name,
      kind: SpanKind[kind] as keyof typeof SpanKind,
      traceId,
      spanId,
      parentId: this.#parentId,
      attributes: this.#attributes,
      failed: this.#failed,
      notes: [...this.#notes, ...links.map(({ attributes }) => attributes)],
      links: links.map(link => link.context.spanId)
    })
  }
}

class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()

  active = (): Context => this.#storage.getStore() ?? ROOT_CONTEXT
  with = <A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    current: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> => this.#storage.run(current, () => fn.call(thisArg, ...args))

  bind = <T>(_current: Context, target: T): T => target
  enable = (): this => this
  disable = (): this => {
    this.#storage.disable()
    return this
  }
}
