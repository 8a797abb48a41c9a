import type { Cancellation } from '../lib/abort.js'
import type { Call } from '../protocol/dispatch/call.js'
import type { Revision } from '../protocol/revisions/revision.js'
import type { Params } from '../protocol/wire/jsonrpc.js'
import type { LogLevel } from '../protocol/wire/log-level.js'
import type { ParkedCalls } from './relay/parking/parked-calls.js'
import type { Redact } from './secrets.js'
import type { ServerEntry } from './server-entry.js'
import type { SignInPages } from './sign-in/offer.js'

/**
 * The call of a client that a request to an upstream serves. It may outlive the client's request: between two rounds it
 * has none.
 */
export interface RelayedCall {
  readonly principal: string | undefined
  /**
   * Who is counted as one where something is shared by all callers: a principal, or the address of callers without one.
   */
  readonly caller: string
  /**
   * The client; two calls of one client have the same, and so have two stateless calls of one principal, or of an
   * anonymous caller on one connection.
   */
  readonly client: object | string
  /** True while a request of the client waits for its outcome; false while it is parked until the client comes back. */
  readonly isWaiting: boolean
  /** Progress of the request, as the upstream sent it. */
  progress (params: Params): void
  /** A log message of the upstream that belongs to this call. */
  log (params: Params): void
  /** True when the client can be asked this now. */
  canAsk (method: string, params: Params): boolean
  /**
   * Answers a request of a legacy upstream, verbatim. Rejects with an `McpError` if the client cannot be asked; the
   * signal aborts when the upstream takes the question back.
   */
  ask (method: string, params: Params, signal: AbortSignal): Promise<object>
}

/** A request to an upstream. `params` have no key of `_meta` that the protocol gives a meaning. */
export interface UpstreamRequest {
  readonly method: string
  readonly params: Params
  /** Cancels it at the upstream. */
  readonly signal?: AbortSignal | undefined
  /** Cancels it at the upstream, for calls of clients. */
  readonly cancellation?: Cancellation | undefined
  /** Undefined for requests of our own, such as lists. */
  readonly call?: RelayedCall | undefined
  /** The caller on whose behalf it is sent, where it belongs to no call. */
  readonly caller?: string | undefined
  /** True when the client wants progress. */
  readonly wantsProgress?: boolean | undefined
  /** The questions that the client can be asked, where capabilities are declared per request. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined
  readonly logLevel?: LogLevel | undefined
  /** More headers, such as `Mcp-Param-*`, where there are headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * True when the sender itself looks for keys that reach prototypes in the result; without it, such a result fails the
   * request.
   */
  readonly allowsUnsafeKeys?: boolean | undefined
  /**
   * Reads the lists again and gives the headers anew: called when the upstream refused those it got, before one retry.
   */
  readonly renewHeaders?: (() => Promise<Readonly<Record<string, string>>>) | undefined
}

/** An upstream's words about itself. */
export interface UpstreamServer {
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
  /** The hops that what it lists may come over, if it is a gateway of ours; undefined for other servers. */
  readonly hops?: readonly string[] | undefined
  /** Sentences about what it has and does not list. */
  readonly warnings?: readonly string[] | undefined
}

/** A link to an upstream after the handshake or discovery, or an API with its document. */
export interface Connection {
  /** Undefined for an API, which does not speak MCP: it asks no questions. */
  readonly revision: Revision | undefined
  readonly transport: 'stdio' | 'http' | 'sse' | 'websocket' | 'openapi'
  readonly server: UpstreamServer
  readonly closed: boolean
  /**
   * The result, verbatim. Rejects with the upstream's error as an `McpError` of the same code, message and data, or
   * with one that names the upstream.
   */
  request (request: UpstreamRequest): Promise<Record<string, unknown>>
  /**
   * Listens to notifications that belong to no call: changed lists, updated resources. Returns how to remove the
   * listener. When the upstream has forgotten its session and begun another, all listeners are removed, and `onReady`
   * of the upstream runs again.
   */
  onNotification (listener: (method: string, params: Params) => void): () => void
  onClose (listener: (why: Error) => void): () => void
  /**
   * Reads again what describes it, where it cannot say that this has changed. Listeners to changed lists hear of a
   * difference.
   */
  reread? (): Promise<void>
  /** Settles when nothing of it is left; never rejects. `why` is what its listeners are told. */
  close (why?: Error): Promise<void>
}

/** A connection to a server that speaks MCP. */
export interface McpConnection extends Connection {
  readonly revision: Revision
  readonly transport: Exclude<Connection['transport'], 'openapi'>
}

/** A connection as its owner sees it. */
export interface OpenConnection extends Connection {
  readonly callsInFlight: number
  /** True while a request is to be answered, such as a call or the reading of a list; not for a lasting one. */
  readonly isBusy: boolean
  /** Settles when no call is in flight, at the latest after `ms` milliseconds. */
  drain (ms: number): Promise<void>
}

export type OpenMcpConnection = OpenConnection & McpConnection

export type UpstreamState =
  | 'disabled'
  | 'stopped'
  | 'starting'
  | 'ready'
  | 'backing off'
  | 'crash loop'
  | 'needs sign-in'
  | 'closed'

/** The state of an upstream that operators see. */
export interface UpstreamStatus {
  readonly alias: string
  readonly state: UpstreamState
  /** True while its lists are those of an earlier start. */
  readonly stale: boolean
  readonly transport: string
  /** The version of the protocol; undefined while it is not known. */
  readonly revision: string | undefined
  readonly tools: number
  /**
   * How many tools, prompts, resources and templates are listed in another form than it sent, because clients would
   * refuse it.
   */
  readonly repaired: number
  readonly restarts: number
  /** The reason of the latest failure, for people; no secrets. */
  readonly lastError: string | undefined
  /** Sentences about entries that were left out of its lists, and why. */
  readonly warnings: readonly string[]
}

/**
 * Changes of a tool, prompt, resource or template before it was listed, in sentences that begin with a JSON pointer.
 */
export interface Repair { readonly noun: string, readonly name: string, readonly changes: readonly string[] }

/** One configured server, running or not. */
export interface Upstream {
  readonly entry: ServerEntry
  /** Hides the secrets that it knows. */
  readonly redact: Redact
  /** The calls of all upstreams that wait for answers of clients. */
  readonly parked: ParkedCalls
  /** How often it may ask a client with a handshake during one call. */
  readonly maxRounds: number
  /**
   * The connection that serves this call, by the entry's `isolate`; starts it when needed. Rejects with an error that
   * names the upstream.
   */
  connectionFor (call: Call): Promise<Connection>
  /** The connection where it is shared and open already: most calls need no promise for it. */
  openConnection (): Connection | undefined
  /** The connection for lists and subscriptions. */
  shared (): Promise<Connection>
  /** Runs for each new shared connection. Returns how to remove the listener. */
  onReady (listener: (connection: Connection) => void): () => void
  /** Runs when the status changes. */
  onChange (listener: () => void): () => void
  /** The part of the status that the life of its processes and sockets determines. */
  readonly status: Pick<UpstreamStatus, 'state' | 'transport' | 'revision' | 'restarts' | 'lastError'>
  /** When its state changed last, in milliseconds since 1970. */
  readonly since: number
  /** True from a failure until it is ready again. */
  readonly isFailing: boolean
  /** When it is started again by itself, in milliseconds since 1970; undefined unless that is planned. */
  readonly nextTryAt: number | undefined
  /**
   * Lines that it wrote last to standard error before it failed, without its secrets, for operators only. Kept until it
   * fails again.
   */
  lastLines (): readonly string[]
  /** Lines of the process that was started last, whether it runs or not: at most 100 lines. */
  recentLines (): readonly string[]
  /** Takes over a sign-in of this owner that was stored or removed; undefined for those of all. */
  readSignIn (owner?: string): Promise<void>
  /** The pages where callers sign in to it; undefined where sign-ins cannot be stored. */
  signInPages (): Promise<SignInPages | undefined>
  /** Starts it now, unless it runs, is being started or was removed. */
  retry (): void
  /** Lets the calls in flight finish, then ends everything that was started for it. Never rejects. */
  close (): Promise<void>
}

/** Where the gateway writes what no client gets. */
export interface ConnectionLog {
  debug (data: object, text: string): void
  warn (data: object, text: string): void
}
