import type { Call } from '../../protocol/dispatch/call.js'
import type { CallTrace, RequestTrace } from '../../protocol/peer/trace.js'
import type { Connection, UpstreamRequest } from '../ports.js'

type Result = Record<string, unknown>

/** Sends a request of a call to an upstream. Where calls are traced, it is a span of its own, and the upstream goes on with the trace. */
export function requestTraced (call: Call, connection: Connection, request: UpstreamRequest): Promise<Result> {
  const span = call.trace === undefined ? undefined : startSpan(call, call.trace, connection, request)
  return span === undefined ? connection.request(request) : span.endWith(span.run(() => connection.request({ ...request, params: span.params })))
}

function startSpan (call: Call, trace: CallTrace, connection: Connection, { method, params }: UpstreamRequest): RequestTrace | undefined {
  // The relayed name is a registered one: the call has a target.
  const name = typeof params['name'] === 'string' && call.target?.item !== undefined ? params['name'] : undefined
  return trace.startRelayed({
    method,
    params,
    tool: method === 'tools/call' ? name : undefined,
    prompt: method === 'prompts/get' ? name : undefined,
    transport: connection.transport,
    version: connection.revision.version
  })
}
