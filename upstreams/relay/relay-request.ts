import type { Call } from '../../protocol/dispatch/call.js'
import { standInFor } from '../../protocol/questions/stand-in.js'
import { codes, errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { Connection, McpConnection, Upstream, UpstreamRequest } from '../ports.js'
import { explainTo, whyUnsigned } from '../reasons.js'
import { askableCapabilities } from './askable-capabilities.js'
import { carriedState, type CarriedState } from './questions/carried-state.js'
import { MAX_QUESTIONS } from './questions/input-required.js'
import { expectCompletion } from './questions/completed-elicitations.js'
import { DirectCall } from './direct-call.js'
import { ParkableCall } from './parking/parkable-call.js'
import { relayOneRound } from './relay-one-round.js'
import { resumeParked } from './parking/resume-parked.js'
import { relayRounds } from './relay-rounds.js'
import { shownOnly, withoutReserved } from './relayed-params.js'
import { requestTraced } from './request-traced.js'
import { demandsPages, requiredPages } from './questions/required-pages.js'
import { hasTasks, takesTasks, taskIdIn, TASKS, withoutTask } from './tasks/upstream-task.js'
import { toClientError } from './to-client-error.js'

/** The needs of a request besides its params: headers such as `Mcp-Param-*`, where there are headers. */
export interface RelayOptions extends Pick<UpstreamRequest, 'headers' | 'renewHeaders'> {
  /** True where the upstream is asked to make a task of the call. */
  readonly asTask?: boolean
}

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
    return await relayOnce(call, upstream, method, params, options)
  } catch (error) {
    const again = (): Promise<Result> => relayOnce(call, upstream, method, params, options)
    return await afterSignIn(call, upstream, error, again)
  }
}

/** Opens the connection of a caller, who is asked to sign in if need be. */
export async function relaySignIn (call: Call, upstream: Upstream): Promise<Result> {
  const text = `You are signed in to ${upstream.entry.alias}. Its tools are listed from now on.`
  const open = async (): Promise<Result> => {
    await upstream.connectionFor(call)
    return { content: [{ type: 'text', text }] }
  }
  return await open().catch(async (error: unknown) => await afterSignIn(call, upstream, explainTo(call, error), open))
}

/** Asks the caller to sign in where an error says so, and goes on with its call then. */
async function afterSignIn (
  call: Call,
  upstream: Upstream,
  error: unknown,
  goOn: () => Promise<Result>
): Promise<Result> {
  const why = whyUnsigned(error)
  if (why === undefined) throw error
  // Loaded only now: most callers are never asked.
  const { askToSignIn } = await import('./ask-to-sign-in.js')
  return await askToSignIn(call, upstream, why, goOn)
}

async function relayOnce (
  call: Call,
  upstream: Upstream,
  method: string,
  params: Params,
  options: RelayOptions
): Promise<Result> {
  const { alias } = upstream.entry
  try {
    const carried = carriedState(call, alias)
    if (carried?.parked !== undefined) {
      return withoutTask(await resumeParked(call, alias, upstream.parked, carried.parked))
    }
    if (carried?.task !== undefined) return await follow(call, upstream, carried.task)
    const connection = upstream.openConnection() ?? (await upstream.connectionFor(call))
    // A call that was cancelled while the upstream was starting is not sent.
    call.response.cancellation.throwIfCancelled()
    const request = requestOf(call, upstream, connection, method, params, options)
    const result = await send(call, upstream, connection, request, carried)
    const taskId = taskIdIn(result, connection, request, alias)
    return taskId === undefined ? result : await follow(call, upstream, taskId)
  } catch (error) {
    if (whyUnsigned(error) !== undefined) throw error
    if (!demandsPages(error)) throw toClientError(explainTo(call, error), call)
    if (!upstream.entry.elicitation) {
      throw errors.upstreamFailed(alias, 'it wants pages to be opened, which its configuration forbids')
    }
    if (!call.revision.stateless) throw toClientError(error, call)
    return requiredPages(error, call, alias)
  }
}

async function follow (call: Call, upstream: Upstream, taskId: string): Promise<Result> {
  const { followTask } = await import('./tasks/follow-task.js')
  return await followTask(call, upstream, taskId, async (connection, params) => {
    const request = requestOf(call, upstream, connection, 'tasks/result', params, {})
    return await send(call, upstream, connection, request, undefined)
  })
}

/** The methods that a person may have to approve. */
const APPROVED = new Set(['tools/call', 'prompts/get', 'resources/read'])

// The whole request at once: V8 copies objects slowly.
function requestOf (
  call: Call,
  { entry }: Upstream,
  connection: Connection,
  method: string,
  params: Params,
  { headers, renewHeaders, asTask }: RelayOptions
): UpstreamRequest {
  const own = call.ruled?.asks !== undefined && APPROVED.has(method) ? shownOnly(params) : withoutReserved(params)
  return {
    method,
    params: asTask === true && takesTasks(connection) ? { ...own, task: {} } : own,
    headers,
    renewHeaders,
    cancellation: call.response.cancellation,
    wantsProgress: call.wantsProgress,
    call: new DirectCall(call, connection),
    signal: undefined,
    capabilities: capabilitiesFor(call, entry, connection, method),
    logLevel: call.channel.streams ? call.logLevel : undefined
  }
}

function capabilitiesFor (
  call: Call,
  entry: Upstream['entry'],
  connection: Connection,
  method: string
): Readonly<Params> | undefined {
  if (connection.revision?.stateless !== true) return undefined
  const askable = withForms(askableCapabilities(call, entry), call, entry)
  return method === 'tools/call' && hasTasks(connection) ? { ...askable, ...TASKS } : askable
}

/** With forms, where an operator answers those that the client cannot be asked. */
function withForms (askable: Readonly<Params>, call: Call, { elicitation }: Upstream['entry']): Readonly<Params> {
  const isStoodIn = elicitation && askable['elicitation'] === undefined && standInFor(call.ruled, FORM) !== undefined
  return isStoodIn ? { ...askable, ...FORMS } : askable
}

const FORM = { method: 'elicitation/create', params: {} }
const FORMS = { elicitation: { form: {} } }

/** True where no question goes to the client: an operator answers forms, and there is nothing else to ask it. */
const isForOperator = (call: Call, entry: Upstream['entry']): boolean =>
  standInFor(call.ruled, FORM) !== undefined &&
  ['elicitation', 'sampling', 'roots'].every(name => !(name in askableCapabilities(call, entry)))

/**
 * The client and the upstream are each of the era with a handshake or of the one without: four ways for questions to
 * travel. An API asks none.
 */
function send (
  call: Call,
  { entry, parked, maxRounds }: Upstream,
  connection: Connection,
  request: UpstreamRequest,
  carried: CarriedState | undefined
): Promise<Result> {
  const { alias } = entry
  if (!speaksMcp(connection)) return requestTraced(call, connection, request)
  if (connection.revision.stateless) {
    return call.revision.stateless && !isForOperator(call, entry)
      ? relayOneRound(call, alias, connection, request, carried)
      : relayRounds(call, alias, connection, request, maxRounds)
  }
  if (!call.revision.stateless) return relayDirectly(call, connection, request)
  if (carried?.state !== undefined) throw errors.notWaiting(alias, 'the server was replaced')
  return new ParkableCall(call, alias, parked).start(call, connection, request)
}

const speaksMcp = (connection: Connection): connection is McpConnection => connection.revision !== undefined

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
