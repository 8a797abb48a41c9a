/**
 * The connection to the gateway as the views of the console know it. `client/` makes it; nothing here touches the page.
 */

import { NEWEST, NEWEST_APPS } from '../../protocol/revisions/newest.js'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type JsonObject = { [name: string]: Json }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * `legacy`: 2025-11-25 with `initialize`, requests to the client. `modern`: 2026-07-28 with `_meta` in each request,
 * `input_required`.
 */
export type Era = 'legacy' | 'modern'

export interface Progress { progress: number, total?: number, message?: string }
export interface LogEntry { level: string, logger?: string, data: Json }

/** Something that the server asks while it answers a call. Answered once; later answers do nothing. */
export interface Question {
  /** Unique in this page. */
  id: string
  /** The author's key in the modern era. */
  key?: string
  method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  params: JsonObject
  /** The result as the specification has it, for example `{ action: 'accept', content: {} }`. */
  answer: (result: JsonObject) => void
  /** Answers with a JSON-RPC error (legacy) or ends the call (modern). */
  refuse: (reason: string) => void
}

export interface Handlers {
  onProgress?: (progress: Progress) => void
  onLog?: (entry: LogEntry) => void
  onQuestion?: (question: Question) => void
  /** A question that needs no answer any more: it was answered, or its call has ended. */
  onQuestionGone?: (id: string) => void
  /** Sends `notifications/cancelled`; the promise rejects with `Cancelled`. */
  signal?: AbortSignal
}

export interface ServerFacts {
  name: string
  title?: string
  version: string
  instructions?: string
  revision: string
  capabilities: JsonObject
}

export interface Client {
  readonly era: Era
  readonly server: ServerFacts
  /** Rejects with RpcError, ConnectionLost or Cancelled. Has no time limit of its own. */
  request: (method: string, params?: JsonObject, handlers?: Handlers) => Promise<JsonObject>
  /**
   * Notifications that belong to no call of this client: changed lists, updated resources, logs. Returns how to end it.
   */
  onNotification: (listener: (method: string, params: JsonObject) => void) => () => void
  /** `resources/subscribe` (legacy) or `subscriptions/listen` (modern); the returned function ends it. */
  subscribe: (uri: string, changed: () => void) => Promise<() => void>
}

export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor (readonly code: number, message: string, readonly data?: Json) { super(message) }
}
/** The socket closed before the response came. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}
export class Cancelled extends Error {
  override readonly name: string = 'Cancelled'
}
/** A question was refused that the call cannot go on without. */
export class Declined extends Cancelled {
  override readonly name = 'Declined'
}

const WATCH = 'patchbay/watch'

/** True when the server lets this caller watch it. */
export function mayWatch (client: Client | undefined): boolean {
  if (client === undefined) return false
  const { experimental, extensions } = client.server.capabilities
  return [experimental, extensions].some(declared => isObject(declared) && WATCH in declared)
}

export { NEWEST_APPS }

/** The revision that stands for each era here. */
export const REVISIONS: Record<Era, string> = NEWEST
