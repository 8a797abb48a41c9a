import type { Id, Params } from './jsonrpc.js'

/** A span of the operator's tracing. Its members throw nothing but what the work throws. */
interface Trace {
  /** Runs the work where the spans that it starts become children of this one. */
  run<T> (work: () => T): T
}

/** The span of a call. */
export interface CallTrace extends Trace {
  /** The ids of the W3C Trace Context, in hexadecimal digits. */
  readonly traceId: string
  readonly spanId: string
  /** Two hexadecimal digits: 01 when the trace is recorded. */
  readonly flags: string
  /** Begins a request of the call to its client; undefined when that cannot be traced. */
  startQuestion (method: string, params: object | undefined): RequestTrace | undefined
  /** Begins a request of the call to an upstream server. */
  startRelayed (request: TracedRequest): RequestTrace | undefined
  /** `subject` is what the call is about, which may not have been known when it began. */
  end (ended: { readonly outcome: string, readonly code?: number | undefined }, subject: TracedSubject): void
}

/** The name of a registered tool or prompt, or the URI of a registered resource. */
export interface TracedSubject { readonly tool?: string, readonly prompt?: string, readonly resource?: string }

/** A request as its span describes it. */
export interface TracedRequest {
  readonly method: string
  readonly params: object | undefined
  readonly subject: TracedSubject
  readonly transport: string
  /** The revision of the protocol; undefined for an API, which does not speak it. */
  readonly version: string | undefined
}

/** The span of a request that a call sends. */
export interface RequestTrace extends Trace {
  /** The params with the members of `_meta` by which the receiver goes on with the trace. */
  readonly params: Params
  /** Tells the id with which it was sent. */
  setId (id: Id): void
  /** Ends the span when the promise settles, and settles as that does. */
  endWith<T> (answer: Promise<T>): Promise<T>
  /** Ends the span of a request whose answer comes with another one. */
  end (): void
}
