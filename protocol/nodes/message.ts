import type { CarriedIdentity } from '../wire/carried-identity.js'
import type { LogLevel } from '../wire/log-level.js'

/** The bodies of requests to other nodes, by kind. */
export interface NodeRequests {
  passed: PassedMessage
  refresh: SessionRequest
  handover: SessionRequest
  post: ForwardedPost
  resume: ResumeRequest
}

/**
 * `passed`: a message of a client that another node got: an answer to a request of ours, or the cancellation of a call.
 * Where it arrives, the session has to be there and to be that caller's; the answer is whether it is.
 */
export interface PassedMessage {
  readonly session: string
  readonly principal: string | undefined
  readonly text: string
}

/**
 * `refresh`: read a session again, of which you are the home; the answer is whether you still are. `handover`: I am the
 * home of a session now; the answer is what you have not announced to its client, or nothing if you do not know.
 */
export interface SessionRequest { readonly session: string }

/** `post`: take a message that a client posted for its HTTP+SSE stream, which you have. */
export interface ForwardedPost {
  readonly connection: string
  readonly identity: CarriedIdentity
  readonly view: string | undefined
  readonly text: string
}

/**
 * The answer to `post`: there is no such stream of that caller, its client has to read first, the node does not know
 * its credential, or the reply that the POST gets.
 */
export type PostAnswer = 'unknown' | 'full' | 'refused' | { readonly status: number, readonly text: string | undefined }

/**
 * `resume`: go on with a call to an upstream that is parked at your node, with the answers of its client. `bound` is
 * the hash of the client's request.
 */
export interface ResumeRequest {
  readonly upstream: string
  readonly parkedId: string
  readonly nonce: string
  readonly principal: string | undefined
  readonly bound: string
  readonly capabilities: Record<string, unknown>
  readonly logLevel: LogLevel | undefined
  readonly answers: unknown
}

export interface NodeRequest<K extends keyof NodeRequests = keyof NodeRequests> {
  readonly kind: K
  readonly body: NodeRequests[K]
}

/**
 * Of a node that answers: it does not know the request, it will not answer it, what happened meanwhile, or the answer.
 */
export type NodeReply = 'unknown' | 'failed' | { readonly progress: unknown } | { readonly answer: unknown }

/**
 * A message from node to node. Numbers are those of the node that asks. It sends a `request`, says which it still
 * `waits` for, and that it is `done` with one: it has the answer or wants none; `again` if it sent the request more
 * than once. The other node says on which it `works`, and replies.
 */
export type NodeMessage =
  { readonly kind: 'broadcast', readonly request: NodeRequest } |
  { readonly kind: 'request', readonly number: number, readonly request: NodeRequest } |
  { readonly kind: 'waits' | 'works', readonly numbers: readonly number[] } |
  { readonly kind: 'done', readonly number: number, readonly again: boolean } |
  { readonly kind: 'reply', readonly number: number, readonly reply: NodeReply }

/**
 * Reads a message of another node from its JSON; undefined for a text that is none, and for kinds that this version
 * does not know.
 */
export function decodeNodeMessage (text: string): NodeMessage | undefined {
  const value = parse(text)
  return isObject(value) && isMessage(value) ? value as unknown as NodeMessage : undefined
}

type Members = Record<string, unknown>

const CHECKS: Record<NodeMessage['kind'], (message: Members) => boolean> = {
  broadcast: ({ request }) => isRequest(request),
  request: ({ number, request }) => isNumber(number) && isRequest(request),
  waits: ({ numbers }) => areNumbers(numbers),
  works: ({ numbers }) => areNumbers(numbers),
  done: ({ number }) => isNumber(number),
  reply: ({ number, reply }) => isNumber(number) && (reply === 'unknown' || reply === 'failed' || isObject(reply))
}

function isMessage (message: Members): boolean {
  const { kind } = message
  return typeof kind === 'string' && Object.hasOwn(CHECKS, kind) && CHECKS[kind as NodeMessage['kind']](message)
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isNumber = (value: unknown): boolean => Number.isSafeInteger(value)

const areNumbers = (value: unknown): boolean => Array.isArray(value) && value.every(isNumber)

const isRequest = (value: unknown): boolean =>
  isObject(value) && typeof value['kind'] === 'string' && isObject(value['body'])

// Importing the check of protocol/wire/json.ts here would make the bundler give that file a chunk of its own, which
// every start would load.
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null
