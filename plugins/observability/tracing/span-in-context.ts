import { createContextKey, type Context, type Span } from '@opentelemetry/api'

/** Under which all copies of the OpenTelemetry API keep the current span. */
const SPAN = createContextKey('OpenTelemetry Context Key SPAN')

/**
 * A context with a current span. The API's own copies a map and makes three functions for each, of which a call needs
 * one or two.
 */
export class SpanInContext implements Context {
  readonly #outer: Context
  readonly #span: Span

  constructor (outer: Context, span: Span) {
    this.#outer = outer
    this.#span = span
  }

  getValue (key: symbol): unknown {
    return key === SPAN ? this.#span : this.#outer.getValue(key)
  }

  setValue (key: symbol, value: unknown): Context {
    return this.#plain.setValue(key, value)
  }

  deleteValue (key: symbol): Context {
    return this.#plain.deleteValue(key)
  }

  get #plain (): Context {
    return this.#outer.setValue(SPAN, this.#span)
  }
}
