import type { Call } from '../../protocol/dispatch/call.js'
import type { CallTrace, RequestTrace, TracedSubject } from '../../protocol/wire/trace.js'
import type { Connection, UpstreamRequest } from '../ports.js'

type Result = Record<string, unknown>

/**
 * Sends a request of a call to an upstream. Where calls are traced, it is a span of its own, and the upstream goes on
 * with the trace.
 */
export function requestTraced (call: Call, connection: Connection, request: UpstreamRequest): Promise<Result> {
  const span = call.trace === undefined ? undefined : startSpan(call, call.trace, connection, request)
  return span === undefined
    ? connection.request(request)
    : span.endWith(span.run(() => connection.request({ ...request, params: span.params })))
}

function startSpan (
  call: Call,
  trace: CallTrace,
  connection: Connection,
  { method, params }: UpstreamRequest
): RequestTrace | undefined {
  // The relayed name is a registered one: the call has a target.
  const name = typeof params['name'] === 'string' && call.target?.item !== undefined ? params['name'] : undefined
  return trace.startRelayed({
    method,
    params,
    subject: subjectOf(method, name),
    transport: connection.transport,
    version: connection.revision?.version
  })
}

function subjectOf (method: string, name: string | undefined): TracedSubject {
  if (name === undefined) return {}
  return method === 'tools/call' ? { tool: name } : method === 'prompts/get' ? { prompt: name } : {}
}
