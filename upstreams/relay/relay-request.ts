import type { Call } from '../../protocol/dispatch/call.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Connection, Upstream, UpstreamRequest } from '../ports.js'
import { askableCapabilities } from './askable-capabilities.js'
import { DirectCall } from './direct-call.js'
import { withoutReserved } from './relayed-params.js'
import { toClientError } from './to-client-error.js'

/** What a request needs besides its params. */
export interface RelayOptions {
  /** More headers for the upstream, such as `Mcp-Param-*`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Sends a client's request to an upstream and gives its result back, or an `input_required` result where the client has to answer
 * questions first. `method` and `params` are the upstream's: its own names, the client's `_meta`. Rejects with what the client may see.
 */
export async function relayRequest (call: Call, upstream: Upstream, method: string, params: Params, options: RelayOptions = {}): Promise<Record<string, unknown>> {
  const { alias, timeout } = upstream.entry
  call.response.deadline?.waitFor(alias, timeout)
  try {
    const connection = await upstream.connectionFor(call)
    // A call that was cancelled while the upstream was starting is not sent.
    call.signal.throwIfAborted()
    return await send(call, connection, requestOf(call, method, params, options))
  } catch (error) {
    throw toClientError(error, call)
  }
}

function requestOf (call: Call, method: string, params: Params, { headers }: RelayOptions): UpstreamRequest {
  return {
    method,
    params: withoutReserved(params),
    headers,
    signal: call.signal,
    wantsProgress: call.wantsProgress,
    capabilities: askableCapabilities(call),
    logLevel: call.channel.streams ? call.logLevel : undefined
  }
}

function send (call: Call, connection: Connection, request: UpstreamRequest): Promise<Record<string, unknown>> {
  return connection.request({ ...request, call: new DirectCall(call) })
}
