import type { Call } from '../../protocol/dispatch/call.js'
import { codes, errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Connection, Upstream, UpstreamRequest } from '../ports.js'
import { explainTo } from '../reasons.js'
import { askableCapabilities } from './askable-capabilities.js'
import { carriedState, type CarriedState } from './questions/carried-state.js'
import { MAX_QUESTIONS } from './questions/input-required.js'
import { expectCompletion } from './questions/completed-elicitations.js'
import { DirectCall } from './direct-call.js'
import { ParkableCall } from './parking/parkable-call.js'
import { relayOneRound } from './relay-one-round.js'
import { resumeParked } from './parking/resume-parked.js'
import { relayRounds } from './relay-rounds.js'
import { withoutReserved } from './relayed-params.js'
import { requestTraced } from './request-traced.js'
import { demandsPages, requiredPages } from './questions/required-pages.js'
import { toClientError } from './to-client-error.js'

/** The needs of a request besides its params: headers such as `Mcp-Param-*`, where there are headers. */
export type RelayOptions = Pick<UpstreamRequest, 'headers' | 'renewHeaders'>

type Result = Record<string, unknown>

/**
 * Sends a client's request to an upstream and gives its result back, or an `input_required` result where the client has
 * to answer questions first. `method` and `params` are the upstream's: its own names, the client's `_meta`. Rejects
 * with what the client may see.
 */
export async function relayRequest (
  call: Call,
  upstream: Upstream,
  method: string,
  params: Params,
  options: RelayOptions = {}
): Promise<Result> {
  const { alias, timeout } = upstream.entry
  call.response.deadline?.waitFor(alias, timeout)
  try {
    const carried = carriedState(call, alias)
    if (carried?.parked !== undefined) return await resumeParked(call, alias, upstream.parked, carried.parked)
    const connection = upstream.openConnection() ?? (await upstream.connectionFor(call))
    // A call that was cancelled while the upstream was starting is not sent.
    call.response.cancellation.throwIfCancelled()
    return await send(
      call,
      upstream,
      connection,
      requestOf(call, upstream, connection, method, params, options),
      carried
    )
  } catch (error) {
    if (!demandsPages(error)) throw toClientError(explainTo(call, error), call)
    if (!upstream.entry.elicitation) {
      throw errors.upstreamFailed(alias, 'it wants pages to be opened, which its configuration forbids')
    }
    if (!call.revision.stateless) throw toClientError(error, call)
    return requiredPages(error, call, alias)
  }
}

// The whole request at once: V8 copies objects slowly.
function requestOf (
  call: Call,
  { entry }: Upstream,
  connection: Connection,
  method: string,
  params: Params,
  { headers, renewHeaders }: RelayOptions
): UpstreamRequest {
  return {
    method,
    params: withoutReserved(params),
    headers,
    renewHeaders,
    cancellation: call.response.cancellation,
    wantsProgress: call.wantsProgress,
    call: new DirectCall(call, connection),
    signal: undefined,
    capabilities: connection.revision.stateless ? askableCapabilities(call, entry) : undefined,
    logLevel: call.channel.streams ? call.logLevel : undefined
  }
}

/**
 * The client and the upstream are each of the era with a handshake or of the one without: four ways for questions to
 * travel.
 */
function send (
  call: Call,
  { entry: { alias }, parked, maxRounds }: Upstream,
  connection: Connection,
  request: UpstreamRequest,
  carried: CarriedState | undefined
): Promise<Result> {
  if (connection.revision.stateless) {
    return call.revision.stateless
      ? relayOneRound(call, alias, connection, request, carried)
      : relayRounds(call, alias, connection, request, maxRounds)
  }
  if (!call.revision.stateless) return relayDirectly(call, connection, request)
  if (carried?.state !== undefined) throw errors.notWaiting(alias, 'the server was replaced')
  return new ParkableCall(call, alias, parked).start(call, connection, request)
}

async function relayDirectly (call: Call, connection: Connection, request: UpstreamRequest): Promise<Result> {
  try {
    return await requestTraced(call, connection, request)
  } catch (error) {
    expectPages(error, call, connection)
    throw error
  }
}

/** A client that is sent to pages by an error hears of their completion, like one that was asked. */
function expectPages (error: unknown, call: Call, connection: Connection): void {
  if (
    !isMcpError(error) ||
    error.code !== codes.urlElicitationRequired ||
    !isObject(error.data) ||
    !Array.isArray(error.data.elicitations)
  ) { return }
  for (const page of error.data.elicitations.slice(0, MAX_QUESTIONS)) {
    if (isObject(page) && typeof page.elicitationId === 'string') expectCompletion(connection, page.elicitationId, call)
  }
}
