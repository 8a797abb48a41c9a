/** Why a message, request or connection was refused before anything was done for it. */
export type RefusalReason = 'rate' | 'tool_rate' | 'in_flight' | 'pressure' | 'draining' | 'sessions' | 'streams' | 'connections' | 'size' | 'auth' | 'origin'

/** One refusal; `status` is that of the HTTP reply, where there is one. */
export interface Refusal { readonly reason: RefusalReason, readonly status?: number | undefined }

/** An error that crosses the wire. Anything else a handler throws reaches the client as an internal error with a correlation id. */
export class McpError extends Error {
  override readonly name = 'McpError'
  /** The HTTP status, where the request itself is at fault and not what it asked for. */
  readonly status: number | undefined
  /** What the HTTP reply says besides. */
  readonly headers: Record<string, string> | undefined
  /** Set where the message was refused before anything was done for it. */
  refusal: RefusalReason | undefined = undefined

  constructor (readonly code: number, message: string, readonly data?: unknown, status?: number, headers?: Record<string, string>, options?: ErrorOptions) {
    super(message, options)
    this.status = status
    this.headers = headers
  }
}

/** A tool's own failure: the client gets an `isError` result with this text. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

// By name, because an author's plugin may have loaded its own copy of this package.
export const isToolError = (error: unknown): error is ToolError =>
  error instanceof Error && error.name === 'ToolError'

export const isMcpError = (error: unknown): error is McpError =>
  error instanceof Error && error.name === 'McpError' && Number.isInteger((error as McpError).code)

/** True for an error about a limit that was reached: its data names the limit. */
export const isFull = (error: unknown): boolean => isMcpError(error) && Object.hasOwn(Object(error.data), 'max')

/** The codes of JSON-RPC (-32700 to -32600), of MCP, and of Patchbay itself (-32001). */
export const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  clipboard: -32001,
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  /** Tells a client of 2025-11-25 to open a page first; its data is meant for the client, not for the model. */
  urlElicitationRequired: -32042
} as const

/** True for errors about the request itself, which stay JSON-RPC errors even when they surface inside a tool. */
export const isAboutRequest = ({ status, code }: McpError): boolean => status !== undefined || code === codes.urlElicitationRequired

const MAX_NAME = 256

/** The length to which a client's error is cut before an author gets it: a longer one would only fill logs. */
const MAX_CAUSE = 4_096

const cut = (text: string, max: number): string => text.length > max ? `${text.slice(0, max)}…` : text

/** Text of a client, cut to a length at which it is worth repeating. */
export const shorten = (text: string): string => cut(text, MAX_NAME)

export interface WireError { code: number, message: string, data?: unknown }

/** The error of a response, for the author of the request. */
export const fromWire = ({ code, message, data }: WireError): McpError => new McpError(code, message, data)

/** The error of an upstream for a client: with the code and the HTTP status that the client's revision has for it. */
export const relayedError = ({ message, data, headers, cause }: McpError, code: number, status: number): McpError =>
  new McpError(code, message, data, status, headers, { cause })

/** Marks an error as a refusal for this reason. */
export function refusedFor<E extends { refusal: RefusalReason | undefined }> (reason: RefusalReason, error: E): E {
  error.refusal = reason
  return error
}

const CLOSING = 'The server is shutting down'
const SOON = { 'retry-after': '1' }

const invalidRequest = (why: string) => new McpError(codes.invalidRequest, `Invalid Request: ${why}`)
const invalidParams = (why: string, status?: number) => new McpError(codes.invalidParams, `Invalid params: ${why}`, { details: why }, status)
const internal = (text: string, data?: object, status?: number, headers?: Record<string, string>) => new McpError(codes.internal, text, data, status, headers)

/** Every JSON-RPC error of ours that a client can see. `npm run errors-page` makes docs/errors.md of this table and of the comments in it. */
export const errors = {
  /** The message is not JSON, not UTF-8, or empty. Remedy: send one JSON object in UTF-8. */
  parse: (why: string, cause?: unknown) => new McpError(codes.parse, `Parse error: ${why}`, undefined, undefined, undefined, cause === undefined ? {} : { cause }),
  /**
   * The message is JSON but not a JSON-RPC message that may be sent now: an id in use, a request before `initialize`, a batch where there are none.
   * Remedy: correct what the text names.
   */
  invalidRequest: (why: string) => invalidRequest(why),
  /** A message over stdio is longer than option `maxMessage` allows. Remedy: send less, or raise `maxMessage`. */
  messageTooLong: (max: number) => refusedFor('size', invalidRequest(`a message is at most ${max} bytes`)),
  /** The message has more elements and members than option `maxValues` allows. Remedy: send less at a time. */
  tooManyValues: (max: number) => refusedFor('size', invalidRequest(`a message has at most ${max} values, elements of lists and members of objects together (option maxValues)`)),
  /** The objects of the message have more members than option `maxKeys` allows. Remedy: send less at a time. */
  tooManyKeys: (max: number) => refusedFor('size', invalidRequest(`the objects of a message have at most ${max} members together (option maxKeys)`)),
  /** The message has lists or objects inside each other deeper than option `maxDepth` allows. Remedy: flatten it. */
  tooDeep: (max: number) => refusedFor('size', invalidRequest(`the message is nested deeper than ${max} levels (option maxDepth)`)),
  /** The method does not exist, or not in the revision that the client speaks. Remedy: see [Revisions](revisions.md). */
  methodNotFound: (method: string) => new McpError(codes.methodNotFound, `Method not found: ${shorten(method)}`),
  /** The params do not fit the method or tool, or a cursor or `requestState` is not one of ours. Remedy: correct what the text names. */
  invalidParams: (why: string) => invalidParams(why),
  /** The tool does not exist, or the caller has no right to it. Remedy: call `tools/list`. */
  unknownTool: (name: string) => invalidParams(`Unknown tool: ${shorten(name)}`),
  /** The prompt does not exist, or the caller has no right to it. Remedy: call `prompts/list`. */
  unknownPrompt: (name: string) => invalidParams(`Unknown prompt: ${shorten(name)}`),
  /** `completion/complete` for a resource template that does not exist. Remedy: call `resources/templates/list`. */
  unknownTemplate: (uri: string) => invalidParams(`Unknown resource template: ${shorten(uri)}`),
  /** `initialize` or `server/discover` of a client that connected to the URL of an upstream which is not configured any more. Remedy: connect to `/mcp`, or to the URL of another one. */
  unknownView: (view: string) => invalidParams(`there is no upstream server "${shorten(view)}"`),
  /**
   * The resource does not exist, or the caller has no right to it. The code is -32602 from 2026-07-28 on, and -32002 before.
   * Remedy: call `resources/list`.
   */
  resourceNotFound: (uri: string, code: number) => new McpError(code, `Resource not found: ${uri}`, { uri }),
  /** The client's response to a request of the server does not fit its schema. Remedy: correct the client. */
  badAnswer: (method: string, why: string) => invalidParams(`the answer to ${method}: ${why}`, 200),
  /** `_meta` is incomplete or malformed. Remedy: correct what the text names. */
  malformedMeta: (why: string) => invalidParams(why, 400),
  /** A handler failed in a way that its author did not foresee. Remedy: look for the correlation id in the log of the server. */
  internal: (correlation: string) => internal(`Internal error (see the server's log for ${correlation})`, { correlation }),
  /** The call took longer than option `callTimeout` allows. Remedy: ask for less, or raise the option. */
  timeout: (ms: number) => internal(`The call was given up after ${ms} ms without an answer`),
  /** An upstream server did not answer within its `timeout`, or within option `callTimeout`. Remedy: ask for less, or raise the timeout. */
  upstreamTimeout: (upstream: string, ms: number) => internal(`The call was given up after ${ms} ms without an answer of the upstream server ${upstream}`, { upstream }),
  /**
   * `requestState` names a call of an upstream server that does not wait for answers any more: it was answered, has expired, or its process
   * has ended or cannot be reached. Remedy: send the request again without `requestState`.
   */
  notWaiting: (upstream: string, reason: string) => new McpError(
    codes.invalidParams, `Invalid params: the call to the upstream server ${upstream} does not wait for this answer any more (${reason}); send the request again without requestState`,
    { upstream, reason }),
  /** A question of an upstream server is refused, because as many calls wait for answers as an option allows. Remedy: answer some of them, or raise the option. */
  tooManyParked: (option: string, max: number) => internal(`As many calls wait for answers of clients as option ${option} allows (${max})`, { max }),
  /** A question of an upstream server is refused, because what is kept for calls that wait for answers would be too much. Remedy: answer some of them, or raise `maxParkedBytes`. */
  tooManyParkedBytes: (max: number) => internal(`The calls that wait for answers of clients take as many bytes as option maxParkedBytes allows (${max})`, { max }),
  /** The server closes before the call is answered. Remedy: send the request again, if it may be carried out twice. */
  closing: () => internal(CLOSING),
  /** The server is shutting down and takes no new calls. Remedy: try again later. */
  draining: () => refusedFor('draining', internal(CLOSING, undefined, 503, SOON)),
  /** Over HTTP: the credential lacks a scope. Elsewhere the target looks unknown. Remedy: get a credential with the scopes of `data.requiredScopes`. */
  forbidden: (scopes: readonly string[], challenge: string) => new McpError(
    codes.invalidRequest, `Forbidden: this needs the scope ${scopes.join(' ')}`, { requiredScopes: scopes }, 403, { 'www-authenticate': challenge }),
  /** The API key or access token of the connection has expired, or was removed. Remedy: connect again with a new one. */
  expired: () => refusedFor('auth', new McpError(
    codes.invalidRequest, 'Unauthorized: the credential has expired; connect again with a new key or token (with stdio: start the server again with a new token)',
    undefined, 401, { 'www-authenticate': 'Bearer error="invalid_token"' })),
  /** The client has as many calls in flight as option `maxInFlight` allows. Remedy: wait for some responses. */
  tooManyInFlight: (max: number) => refusedFor('in_flight', internal(
    `Too many calls are waiting for their answer already, at most ${max} (option maxInFlight); wait for some of them`, { max }, 429, SOON)),
  /** The calls in flight of the client hold as many bytes as option `maxBytesInFlight` allows. Remedy: wait for some responses. */
  tooMuchInFlight: (max: number) => refusedFor('in_flight', internal(
    `The calls that are waiting for their answer hold too much already, at most ${max} bytes (option maxBytesInFlight); wait for some of them`,
    { max }, 429, SOON)),
  /** The calls in flight of all clients hold as many bytes as option `maxAllBytesInFlight` allows. Remedy: try again later. */
  tooMuchInAll: (max: number) => refusedFor('in_flight', internal(
    `All calls together hold too much already, at most ${max} bytes (option maxAllBytesInFlight); try again later`, { max, retryAfter: 1 }, 503, SOON)),
  /** `resources/subscribe`: the client subscribes to as many resources as option `maxSubscriptions` allows. Remedy: unsubscribe from some. */
  noMoreSubscriptions: (max: number) => invalidParams(`a client has at most ${max} subscriptions (option maxSubscriptions); unsubscribe from some first`),
  /** `subscriptions/listen`: the client subscribes to as many resources as option `maxSubscriptions` allows. Remedy: end some subscriptions. */
  tooManySubscriptions: (max: number) => internal(`A client hears of at most ${max} resources (option maxSubscriptions); end some subscriptions first`, { max }),
  /** The URIs that the client subscribes to are as long as option `maxSubscriptionText` allows. Remedy: end some subscriptions. */
  tooLongSubscriptions: (max: number) => invalidParams(
    `the URIs of all subscriptions of a client have at most ${max} characters together (option maxSubscriptionText); end some subscriptions first`),
  /** `patchbay/watch`: as many calls of it are open as there may be. Remedy: end one of them. */
  tooManyWatchers: (max: number) => internal(`At most ${max} clients watch the gateway at once; end one of them first`, { max }),
  /** The caller exceeds its rate, or that of one tool ([Rate limits](rate-limits.md)). Remedy: wait `data.retryAfter` seconds. */
  tooFast: (what: string, seconds: number, reason: 'rate' | 'tool_rate') => refusedFor(reason, internal(
    `Too many calls ${what}; try again in ${seconds} s`, { retryAfter: seconds }, 429, { 'retry-after': String(seconds) })),
  /** The event loop is late, memory is short, or a limit for all clients is reached. Remedy: try again later. */
  overloaded: (why: string, reason: 'pressure' | 'streams' = 'pressure') => refusedFor(reason, internal(`The server is overloaded (${why}); try again later`, { retryAfter: 1 }, 503, SOON)),
  /** The store cannot read or write. Remedy: the operator looks at the text and at `/health`. */
  storage: (why: string) => internal(`Storage failed: ${why}`, { details: why }),
  /** The answer to a question could not be passed on to the node that asked it. Remedy: send the answer again. */
  answerNotPassedOn: (why: string) => internal(`The answer could not be passed on to the node that asked (${why}); send it again`, { retryAfter: 1 }, 503, SOON),
  /** The store has as many values of this kind as it may. Remedy: delete some. */
  full: (max: number) => internal(`There are ${max} already, which is as many as there may be; delete some first`, { max }),
  /** The server stopped, or the session ended, while the call was carried out. Remedy: look whether it took effect before sending it again. */
  interrupted: (why = 'The server was stopped') => internal(`${why} before the call was answered; whether it took effect is not known`),
  /** The session or connection ended before the request was read. Remedy: send it again. */
  closed: () => internal('The session or connection was closed before the request was read; it was not carried out'),
  /** An HTTP header does not repeat what the body says. Remedy: correct the header that the text names. */
  headerMismatch: (why: string) => new McpError(codes.headerMismatch, `Header mismatch: ${why}`, undefined, 400),
  /** The call needs something of the client that the client did not declare. Remedy: declare what `data.requiredCapabilities` lists. */
  missingCapability: (needed: object) => new McpError(
    codes.missingCapability, `The client did not declare a capability this request needs: ${JSON.stringify(needed)}`, { requiredCapabilities: needed }, 400),
  /** A handler needs an answer of the client, which cannot be asked. Remedy: use a client with this capability, and a transport with streams. */
  cannotAsk: (method: string, why: string) => internal(`The client cannot be asked for ${method}: ${why}`),
  /** The client answered a request of the server with an error. Remedy: see the text, which is the client's. */
  clientFailed: (method: string, error: WireError) => new McpError(
    codes.internal, `The client could not answer ${method}: ${shorten(error.message)}`, undefined, undefined, undefined, { cause: fromWire({ ...error, message: cut(error.message, MAX_CAUSE) }) }),
  /** The request names a revision that this server does not support. Remedy: use one of `data.supported`. */
  unsupportedVersion: (requested: string, supported: string[]) => new McpError(
    codes.unsupportedVersion, `Unsupported protocol version ${shorten(requested)}; this server speaks ${supported.join(', ')}`,
    { supported, requested: shorten(requested) }, 400),
  /** An upstream server is not running, and the text says why. Remedy: wait `data.retryAfter` seconds if it is there; else the operator looks at `/health` and the log. */
  upstreamUnavailable: (alias: string, why: string, retryAfter?: number) => internal(
    `The upstream server ${alias} is not available: ${why}${retryAfter === undefined ? '' : `; it is tried again in ${retryAfter} s`}`,
    { upstream: alias, ...(retryAfter === undefined ? {} : { retryAfter }) }),
  /** An upstream server ended, or its connection broke, while it carried the call out. Remedy: look whether it took effect before sending it again. */
  upstreamGone: (alias: string, why: string) => internal(`The upstream server ${alias} was lost before it answered (${why}); whether the call took effect is not known`, { upstream: alias }),
  /** An upstream server answered with something that is not allowed, or a request to it failed. Remedy: the operator of that server looks at the text. */
  upstreamFailed: (alias: string, why: string) => internal(`The upstream server ${alias} failed: ${why}`, { upstream: alias }),
  /** For upstream servers: they asked a question that cannot be attributed to the call of one client. Remedy: give the server an `isolate` of `principal` or `session`. */
  cannotAttribute: (method: string, why: string) => internal(`${method} cannot be passed on: ${why}`),
  /** The clipboard cannot be used; `data.details` says why ([Clipboard](clipboard.md)). Remedy: do what `data.hint` says. */
  clipboard: (details: string, hint: string | undefined) => new McpError(codes.clipboard, 'Clipboard error', { details, hint }),
  /** The operating system does not let the server read the file. Remedy: the operator changes the permissions of the file. */
  fileUnreadable: (uri: string) => internal('The server is not permitted to read this file', { uri }),
  /** The file is larger than option `maxFile` allows. Remedy: raise `maxFile`. */
  fileTooLarge: (max: number, uri: string) => internal(`The file is larger than ${max} bytes (option maxFile)`, { uri }),
  /** The limit of the operating system for watched files is reached. Remedy: end some subscriptions, or raise that limit. */
  tooManyWatches: () => internal('The file cannot be watched: the system watches as many files as it can already'),
  /** The body of an HTTP error that answers no request in particular; `name` is its code, if it is one of ours. */
  http: (status: number, message: string, name?: string) => new McpError(
    status >= 500 || status === 429 ? codes.internal : codes.invalidRequest, message, name === undefined ? undefined : { code: name }),
  /** The body of an HTTP error that answers a request, under its id. */
  httpOfRequest: (message: string, name: string) => new McpError(codes.invalidRequest, `Invalid Request: ${message}`, { code: name })
}
