/** An error that crosses the wire. Anything else a handler throws reaches the client as an internal error with a correlation id. */
export class McpError extends Error {
  override readonly name = 'McpError'
  /** The HTTP status, where the request itself is at fault and not what it asked for. */
  readonly status: number | undefined
  /** What the HTTP reply says besides. */
  readonly headers: Record<string, string> | undefined

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

/** True when there was no room for one more. */
export const isFull = (error: unknown): boolean => isMcpError(error) && Object.hasOwn(Object(error.data), 'max')

/** True for errors about the request itself, which stay JSON-RPC errors even when they surface inside a tool. */
export const isAboutRequest = ({ status, code }: McpError): boolean => status !== undefined || code === URL_ELICITATION_REQUIRED

/** Tells a client of 2025-11-25 to open a page first; its data is meant for the client, not for the model. */
const URL_ELICITATION_REQUIRED = -32042

const MAX_NAME = 256

/** As much of a client's error as an author gets: the rest would only fill logs. */
const MAX_CAUSE = 4_096

const cut = (text: string, max: number): string => text.length > max ? `${text.slice(0, max)}…` : text

/** What a client said, as far as it helps to repeat it. */
export const shorten = (text: string): string => cut(text, MAX_NAME)

const CLOSING = 'The server is shutting down'

const invalidParams = (why: string, status?: number) => new McpError(-32602, `Invalid params: ${why}`, { details: why }, status)

/** Every error of ours that a client can see. docs/errors.md lists them. */
export const errors = {
  parse: (why: string) => new McpError(-32700, `Parse error: ${why}`),
  invalidRequest: (why: string) => new McpError(-32600, `Invalid Request: ${why}`),
  tooManyValues: (max: number) => errors.invalidRequest(`a message has at most ${max} values, elements of lists and members of objects together (option maxValues)`),
  tooManyKeys: (max: number) => errors.invalidRequest(`the objects of a message have at most ${max} members together (option maxKeys)`),
  tooDeep: (max: number) => errors.invalidRequest(`the message is nested deeper than ${max} levels (option maxDepth)`),
  methodNotFound: (method: string) => new McpError(-32601, `Method not found: ${shorten(method)}`),
  invalidParams: (why: string) => invalidParams(why),
  badAnswer: (method: string, why: string) => invalidParams(`the answer to ${method}: ${why}`, 200),
  malformedMeta: (why: string) => invalidParams(why, 400),
  internal: (correlation: string) => new McpError(-32603, `Internal error (see the server's log for ${correlation})`, { correlation }),
  timeout: (ms: number) => new McpError(-32603, `The call was given up after ${ms} ms without an answer`),
  closing: () => new McpError(-32603, CLOSING),
  draining: () => new McpError(-32603, CLOSING, undefined, 503, { 'retry-after': '1' }),
  forbidden: (scopes: readonly string[], challenge: string) => new McpError(
    -32600, `Forbidden: this needs the scope ${scopes.join(' ')}`, { requiredScopes: scopes }, 403, { 'www-authenticate': challenge }),
  expired: () => new McpError(
    -32600, 'Unauthorized: what said who you are has expired; connect again with a new key or token (with stdio: start the server again with a new token)',
    undefined, 401, { 'www-authenticate': 'Bearer error="invalid_token"' }),
  tooManyInFlight: (max: number) => new McpError(
    -32603, `Too many calls are waiting for their answer already, at most ${max} (option maxInFlight); wait for some of them`, { max }, 429, { 'retry-after': '1' }),
  tooMuchInFlight: (max: number) => new McpError(
    -32603, `The calls that are waiting for their answer hold too much already, at most ${max} bytes (option maxBytesInFlight); wait for some of them`, { max }, 429, { 'retry-after': '1' }),
  tooMuchInAll: (max: number) => new McpError(
    -32603, `All calls together hold too much already, at most ${max} bytes (option maxAllBytesInFlight); try again later`, { max, retryAfter: 1 }, 503, { 'retry-after': '1' }),
  tooManySubscriptions: (max: number) => new McpError(-32603, `A client hears of at most ${max} resources (option maxSubscriptions); end some subscriptions first`, { max }),
  tooLongSubscriptions: (max: number) => invalidParams(`the URIs of all subscriptions of a client have at most ${max} characters together (option maxSubscriptionText); end some subscriptions first`),
  tooFast: (what: string, seconds: number) => new McpError(
    -32603, `Too many calls ${what}; try again in ${seconds} s`, { retryAfter: seconds }, 429, { 'retry-after': String(seconds) }),
  overloaded: (why: string) => new McpError(-32603, `The server is overloaded (${why}); try again later`, { retryAfter: 1 }, 503, { 'retry-after': '1' }),
  storage: (why: string) => new McpError(-32603, `Storage failed: ${why}`, { details: why }),
  full: (max: number) => new McpError(-32603, `There are ${max} already, which is as many as there may be; delete some first`, { max }),
  interrupted: (why = 'The server was stopped') => new McpError(-32603, `${why} before the call was answered; whether it took effect is not known`),
  http: (status: number, message: string) => new McpError(status >= 500 || status === 429 ? -32603 : -32600, message),
  closed: () => new McpError(-32603, 'The session or connection was closed before the request was read; it was not carried out'),
  headerMismatch: (why: string) => new McpError(-32020, `Header mismatch: ${why}`, undefined, 400),
  missingCapability: (needed: object) => new McpError(
    -32021, `The client did not declare a capability this request needs: ${JSON.stringify(needed)}`, { requiredCapabilities: needed }, 400),
  cannotAsk: (method: string, why: string) => new McpError(-32603, `The client cannot be asked for ${method}: ${why}`),
  clientFailed: (method: string, { code, message, data }: { code: number, message: string, data?: unknown }) => new McpError(
    -32603, `The client could not answer ${method}: ${shorten(message)}`, undefined, undefined, undefined, { cause: new McpError(code, cut(message, MAX_CAUSE), data) }),
  unsupportedVersion: (requested: string, supported: string[]) => new McpError(
    -32022, `Unsupported protocol version ${shorten(requested)}; this server speaks ${supported.join(', ')}`, { supported, requested: shorten(requested) }, 400)
}
