import { oneLine } from '../../lib/one-line.js'
import { RequestCancelled } from '../peer/outgoing-requests.js'
import { codes, isMcpError } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import { CallResponse, type CallOutcome } from './call-response.js'
import { Call } from './call.js'

const MAX_NAME = 64

/** In metrics and spans, in place of a name that no registry has, or that is one too many. */
export const OTHER = '_OTHER'

/** The target of a call, as it was registered. */
export type Subject = Partial<Record<'tool' | 'resource' | 'prompt' | 'upstream', string>>

/** The methods whose `name` is that of their target. */
const NAMING = new Set(['tools/call', 'prompts/get'])

const NOTHING: Subject = Object.freeze({})

/** How a call ended, for operators: `denied` when the caller lacks a scope, or when a rule says no. */
export const outcomeOf = ({ denied, ruled }: Call, { outcome }: CallOutcome): string =>
  denied || ruled?.hidden !== undefined ? 'denied' : outcome

/** The name of the rule that decided about a call; undefined where none had to. */
export const ruleOf = ({ ruled }: Call): string | undefined => ruled?.rule

/** Empty also when an author's function fails at it: a call that went wrong needs its line more than others. */
export function subjectOf (call: Call): Subject {
  try {
    return (call.ruled?.hidden ?? call.target)?.auditSubject ?? NOTHING
  } catch {
    return NOTHING
  }
}

/** The name of a tool or prompt that a call asks for and that does not exist, cut and without control characters. */
export function unknownOf (
  { method, params: { name } }: Call,
  { code }: CallOutcome,
  subject: Subject
): string | undefined {
  return code === codes.invalidParams && subject === NOTHING && NAMING.has(method) && typeof name === 'string'
    ? oneLine(name, MAX_NAME)
    : undefined
}

/** The method, unless it is unknown: that may be any text, so it is not repeated. */
export const methodOf = ({ method }: Call, { code }: CallOutcome, subject: Subject): string | undefined =>
  code === codes.methodNotFound && subject === NOTHING ? undefined : method

/** The client's unverified name and version, without control characters, which a terminal might obey. */
export function clientOf (client: unknown): string | undefined {
  if (!isObject(client) || typeof client.name !== 'string') return undefined
  const { name, version } = client
  return oneLine(`${name}${typeof version === 'string' ? `/${version}` : ''}`, MAX_NAME)
}

/**
 * Why a request of ours failed; undefined for one that did not, and for one that we took back because its answer was
 * not wanted any more.
 */
export function failureOf (error: unknown): unknown {
  if (!(error instanceof RequestCancelled)) return error
  return isMcpError(error.cause) || isTimeout(error.cause) ? error.cause : undefined
}

/** True for what `AbortSignal.timeout` aborts with. */
export const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

/** The calls among what is in flight, each once, oldest first. */
export function callsOf (...inFlight: unknown[][]): Call[] {
  const calls = [...new Set(inFlight.flat())].flatMap(response =>
    response instanceof CallResponse && response.call instanceof Call ? [response.call] : []
  )
  return calls.sort((one, other) => one.response.startedAt - other.response.startedAt)
}
