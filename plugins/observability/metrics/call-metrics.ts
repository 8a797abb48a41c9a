import type { CallOutcome } from '../../../protocol/dispatch/call-response.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { methodOf, OTHER, outcomeOf, subjectOf } from '../../../protocol/dispatch/call-facts.js'
import { codes } from '../../../protocol/wire/errors.js'
import { OPERATION_BOUNDS } from './bounds.js'
import { Counter, Histogram, type CounterSeries, type HistogramSeries } from './series.js'

/** The most names of tools that get series of their own; upstream servers may change theirs again and again. */
export const MAX_TOOLS = 2_000

const KNOWN_CODES = new Set<number>(Object.values(codes))

/** Counts and times each call when it ends, by what is registered: never by text of a client. */
export class CallMetrics {
  readonly operations = new Histogram(
    'mcp_server_operation_duration_seconds', 'How long calls took.', ['mcp_method_name', 'gen_ai_tool_name', 'error_type'], OPERATION_BOUNDS)

  readonly calls = new Counter(
    'patchbay_calls_total', 'Calls that have ended, as the audit log has them.', ['method', 'tool', 'transport', 'revision', 'outcome'])

  readonly #onTooManyTools: () => void
  readonly #methods = new Map<string, TargetSeries>()
  readonly #tools = new Map<string, TargetSeries>()
  #otherTools: TargetSeries | undefined

  /** `onTooManyTools` runs once, when the first tool gets no series of its own. */
  constructor (onTooManyTools: () => void) {
    this.#onTooManyTools = onTooManyTools
  }

  record (call: Call, ended: CallOutcome): void {
    const subject = subjectOf(call)
    const target =
      subject.tool === undefined
        ? this.#ofMethod(methodOf(call, ended, subject) ?? OTHER)
        : this.#ofTool(call.method, subject.tool)
    const outcome = outcomeOf(call, ended)
    target.counter(call.peer.transport, call.revision.version, outcome).add()
    target
      .histogram(errorType(outcome, ended.code))
      .observe(call.response.ms / 1_000, call.trace?.flags === '01' ? call.trace.traceId : undefined)
  }

  #ofMethod (name: string): TargetSeries {
    const known = this.#methods.get(name)
    if (known !== undefined) return known
    const made = new TargetSeries(this, name, undefined)
    this.#methods.set(name, made)
    return made
  }

  // Only `tools/call` is about a tool; completion, which may be about other things, is not.
  #ofTool (method: string, tool: string): TargetSeries {
    const known = this.#tools.get(tool)
    if (known !== undefined) return known
    if (this.#tools.size >= MAX_TOOLS) return this.#ofOtherTools(method)
    const made = new TargetSeries(this, method, tool)
    this.#tools.set(tool, made)
    return made
  }

  #ofOtherTools (method: string): TargetSeries {
    if (this.#otherTools === undefined) {
      this.#otherTools = new TargetSeries(this, method, OTHER)
      this.#onTooManyTools()
    }
    return this.#otherTools
  }
}

/** The series of one method or tool, without a label being formatted again: a call costs a few lookups. */
class TargetSeries {
  readonly #metrics: CallMetrics
  readonly #method: string
  readonly #tool: string | undefined
  readonly #counters = new Map<string, Map<string, Map<string, CounterSeries>>>()
  readonly #histograms = new Map<string | undefined, HistogramSeries>()

  constructor (metrics: CallMetrics, method: string, tool: string | undefined) {
    this.#metrics = metrics
    this.#method = method
    this.#tool = tool
  }

  counter (transport: string, revision: string, outcome: string): CounterSeries {
    return this.#counters.get(transport)?.get(revision)?.get(outcome) ?? this.#addCounter(transport, revision, outcome)
  }

  histogram (errorType: string | undefined): HistogramSeries {
    return this.#histograms.get(errorType) ?? this.#addHistogram(errorType)
  }

  #addCounter (transport: string, revision: string, outcome: string): CounterSeries {
    const series = this.#metrics.calls.with(this.#method, this.#tool, transport, revision, outcome)
    const byRevision = this.#counters.get(transport) ?? new Map<string, Map<string, CounterSeries>>()
    const byOutcome = byRevision.get(revision) ?? new Map<string, CounterSeries>()
    this.#counters.set(transport, byRevision.set(revision, byOutcome.set(outcome, series)))
    return series
  }

  #addHistogram (errorType: string | undefined): HistogramSeries {
    const series = this.#metrics.operations.with(this.#method, this.#tool, errorType)
    this.#histograms.set(errorType, series)
    return series
  }
}

/** The error of an ended call, as the conventions name it; cancelled calls are no errors. */
function errorType (outcome: string, code: number | undefined): string | undefined {
  if (outcome === 'ok' || outcome === 'cancelled') return undefined
  return outcome === 'failed' ? 'tool_error' : codeLabel(code)
}

/** A code of ours or of MCP; an upstream server may send any other. */
export const codeLabel = (code: number | undefined): string =>
  code !== undefined && KNOWN_CODES.has(code) ? String(code) : OTHER
