import { codes, fromWire, McpError, markRefusal, type WireError } from './mcp-error.js'

export {
  codes, fromWire, isAboutRequest, isFull, isMcpError, isToolError, McpError, markRefusal, relayError, ToolError,
  withSentence, type Refusal, type RefusalReason, type WireError
} from './mcp-error.js'

const MAX_NAME = 256

/** The length to which a client's error is cut before an author gets it: a longer one would only fill logs. */
const MAX_CAUSE = 4_096

const cut = (text: string, max: number): string => text.length > max ? `${text.slice(0, max)}…` : text

/** Text of a client, cut to a length at which it is worth repeating. */
export const shorten = (text: string): string => cut(text, MAX_NAME)

const CLOSING = 'The server is shutting down'
const SOON = { 'retry-after': '1' }
const UNAVAILABLE = { status: 503, headers: SOON }
const RETRY_SOON = { ...UNAVAILABLE, data: { retryAfter: 1 } }

/** The name of a cause of failure, `data.code` of its errors: it does not change from version to version, while the text may. */
export type ErrorCode = `PATCHBAY_${string}`

/** True for the `data.code` of an error of ours. */
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && code.startsWith('PATCHBAY_')

/** One mistake in a value: `path` is a JSON pointer to where it is, or to what is missing. */
export interface Mistake { readonly path: string, readonly message: string }

/** Members of an error besides its code, text and name. */
interface Parts { data?: object, status?: number | undefined, headers?: Record<string, string>, cause?: unknown }

/** Makes an error of a table. */
export function makeError (
  name: ErrorCode,
  code: number,
  message: string,
  { data, status, headers, cause }: Parts = {}
): McpError {
  return new McpError(code, message, { code: name, ...data }, status, headers, cause === undefined ? {} : { cause })
}

const invalidRequest = (name: ErrorCode, why: string) =>
  makeError(name, codes.invalidRequest, `Invalid Request: ${why}`)
const invalidParams = (name: ErrorCode, why: string, data?: object, status?: number) =>
  makeError(name, codes.invalidParams, `Invalid params: ${why}`, { data: { details: why, ...data }, status })
const unknownName = (name: ErrorCode, what: string, hint: string) =>
  makeError(name, codes.invalidParams, `Invalid params: ${what}${hint}`, { data: { details: what } })
const internal = (name: ErrorCode, text: string, parts?: Parts) => makeError(name, codes.internal, text, parts)

/** Every JSON-RPC error of ours that a client can see. `npm run errors-page` makes docs/errors.md of this table and of the comments in it. */
export const errors = {
  /** The message is not JSON, not UTF-8, or empty. Remedy: send one JSON object in UTF-8. */
  parse: (why: string, cause?: unknown) => makeError('PATCHBAY_PARSE_ERROR', codes.parse, `Parse error: ${why}`, { cause }),
  /** The message is JSON but not a JSON-RPC message that may be sent now, such as a batch where there are none. Remedy: correct what the text names. */
  invalidRequest: (why: string) => invalidRequest('PATCHBAY_INVALID_REQUEST', why),
  /** A request with this id is not answered yet. Remedy: give each request an id of its own. */
  idInUse: (id: string) => invalidRequest('PATCHBAY_ID_IN_USE', `a request with the id ${id} is still being answered`),
  /** A request of a legacy revision came before `initialize`. Remedy: send `initialize` first. */
  notInitialized: () => invalidRequest('PATCHBAY_NOT_INITIALIZED', 'send initialize first'),
  /** A message over stdio is longer than option `maxMessage` allows. Remedy: send less, or raise `maxMessage`. */
  messageTooLong: (max: number) => markRefusal('size', invalidRequest('PATCHBAY_MESSAGE_TOO_LARGE', `a message is at most ${max} bytes`)),
  /** The message has more elements and members than limit `maxValues` allows. Remedy: send less at a time. */
  tooManyValues: (max: number, limit = 'maxValues') => markRefusal('size', invalidRequest(
    'PATCHBAY_TOO_MANY_VALUES', `a message has at most ${max} values, elements of lists and members of objects together (limit ${limit})`)),
  /** The objects of the message have more members than limit `maxKeys` allows. Remedy: send less at a time. */
  tooManyKeys: (max: number, limit = 'maxKeys') => markRefusal('size', invalidRequest('PATCHBAY_TOO_MANY_KEYS', `the objects of a message have at most ${max} members together (limit ${limit})`)),
  /** The message has lists or objects inside each other deeper than limit `maxDepth` allows. Remedy: flatten it. */
  tooDeep: (max: number, isLimit = true) => markRefusal('size', invalidRequest('PATCHBAY_TOO_DEEP', `the message is nested deeper than ${max} levels${isLimit ? ' (limit maxDepth)' : ''}`)),
  /** The method does not exist, or not in the revision that the client speaks. Remedy: see [Revisions](revisions.md). */
  methodNotFound: (method: string) => makeError('PATCHBAY_METHOD_NOT_FOUND', codes.methodNotFound, `Method not found: ${shorten(method)}`),
  /** The params do not fit the method. Remedy: correct what the text names. */
  invalidParams: (why: string) => invalidParams('PATCHBAY_INVALID_PARAMS', why),
  /** The arguments do not fit the input schema of the tool. Remedy: correct what the text and `data.errors` name. */
  wrongArguments: (why: string, mistakes: readonly Mistake[] = []) => invalidParams('PATCHBAY_WRONG_ARGUMENTS', why, { errors: mistakes }),
  /** The call sends an argument that the operator of the gateway has fixed, and that is not listed. Remedy: leave it out. */
  fixedArgument: (name: string) => invalidParams(
    'PATCHBAY_FIXED_ARGUMENT', `the argument "${shorten(name)}" is set by the operator of this gateway; leave it out`, {}, 200),
  /** The `cursor` of a list is not one that this server issued for it. Remedy: list again without one. */
  cursorRefused: () => invalidParams('PATCHBAY_CURSOR_REFUSED', 'the cursor was not issued by this server for this list; start again without one'),
  /** `requestState` is not one that this server issued for this request and caller, or has expired. Remedy: send the request again without it. */
  stateRefused: (why: string) => invalidParams('PATCHBAY_STATE_REFUSED', `requestState ${why}`),
  /** The tool does not exist, or the caller has no right to it. Remedy: call `tools/list`. */
  unknownTool: (name: string, hint = '') => unknownName('PATCHBAY_UNKNOWN_TOOL', `Unknown tool: ${shorten(name)}`, hint),
  /**
   * GET below `/api/tools` for a tool that is not marked as one that only reads: a link or a picture in a page must not run it.
   * Remedy: send POST.
   */
  notReadOnly: (name: string) => makeError(
    'PATCHBAY_NOT_READ_ONLY', codes.invalidRequest, `the tool ${JSON.stringify(shorten(name))} does not say that it only reads; call it with POST`, { status: 405, headers: { allow: 'POST' } }),
  /** A rule of the operator does not allow the request with these arguments; calls of tools get the text as an `isError` result. Remedy: use other arguments, or ask the operator. */
  notAllowed: (why: string) => invalidParams('PATCHBAY_NOT_ALLOWED', why, {}, 200),
  /** The prompt does not exist, or the caller has no right to it. Remedy: call `prompts/list`. */
  unknownPrompt: (name: string, hint = '') => unknownName('PATCHBAY_UNKNOWN_PROMPT', `Unknown prompt: ${shorten(name)}`, hint),
  /** `completion/complete` for a resource template that does not exist. Remedy: call `resources/templates/list`. */
  unknownTemplate: (uri: string) => invalidParams('PATCHBAY_UNKNOWN_TEMPLATE', `Unknown resource template: ${shorten(uri)}`),
  /** `initialize` or `server/discover` of a client that connected to the URL of a view or an upstream which is not configured any more. Remedy: connect to `/mcp`, or to the URL of another one. */
  unknownView: (view: string) => invalidParams('PATCHBAY_UNKNOWN_VIEW', `there is no view or upstream server "${shorten(view)}"`),
  /** The resource does not exist, or the caller has no right to it. The code is -32602 from 2026-07-28 on, and -32002 before. Remedy: call `resources/list`. */
  resourceNotFound: (uri: string, code: number) => makeError('PATCHBAY_UNKNOWN_RESOURCE', code, `Resource not found: ${uri}`, { data: { uri } }),
  /** The client's response to a request of the server does not fit its schema. Remedy: correct the client. */
  badAnswer: (method: string, why: string) => invalidParams('PATCHBAY_WRONG_ANSWER', `the answer to ${method}: ${why}`, {}, 200),
  /** `_meta` is incomplete or malformed. Remedy: correct what the text names. */
  malformedMeta: (why: string) => invalidParams('PATCHBAY_META_MALFORMED', why, {}, 400),
  /** A handler failed in a way that its author did not foresee. Remedy: look for the correlation id in the log of the server. */
  internal: (correlation: string) => internal('PATCHBAY_INTERNAL', `Internal error (see the server's log for ${correlation})`, { data: { correlation } }),
  /** The call took longer than option `callTimeout` allows. Remedy: ask for less, or raise the option. */
  timeout: (ms: number) => internal('PATCHBAY_TIMEOUT', `The call was given up after ${ms} ms without an answer`),
  /** An upstream server did not answer within its `timeout`, or within option `callTimeout`. Remedy: ask for less, or raise the timeout. */
  upstreamTimeout: (upstream: string, ms: number) => internal(
    'PATCHBAY_UPSTREAM_TIMEOUT', `The call was given up after ${ms} ms without an answer of the upstream server ${upstream}`, { data: { upstream } }),
  /**
   * `requestState` names a call of an upstream server that does not wait for answers any more: it was answered, has expired, or its process
   * has ended or cannot be reached. Remedy: send the request again without `requestState`.
   */
  notWaiting: (upstream: string, reason: string) => makeError(
    'PATCHBAY_NOT_WAITING', codes.invalidParams,
    `Invalid params: the call to the upstream server ${upstream} does not wait for this answer any more (${reason}); send the request again without requestState`,
    { data: { upstream, reason } }),
  /** A question of an upstream server is refused, because as many calls wait for answers as a limit allows. Remedy: answer some of them, or raise the limit. */
  tooManyParked: (limit: string, max: number) => internal(
    'PATCHBAY_TOO_MANY_PARKED', `As many calls wait for answers of clients as limit ${limit} allows (${max})`, { data: { max } }),
  /** A question of an upstream server is refused, because what is kept for calls that wait for answers would be too much. Remedy: answer some of them, or raise `maxParkedBytes`. */
  tooManyParkedBytes: (max: number) => internal(
    'PATCHBAY_TOO_MUCH_PARKED', `The calls that wait for answers of clients take as many bytes as limit maxParkedBytes allows (${max})`, { data: { max } }),
  /** The server closes before the call is answered. Remedy: send the request again, if it may be carried out twice. */
  closing: () => internal('PATCHBAY_CLOSING', CLOSING),
  /** The server is shutting down and takes no new calls. Remedy: try again later. */
  draining: () => markRefusal('draining', internal('PATCHBAY_DRAINING', CLOSING, UNAVAILABLE)),
  /** Over HTTP: the credential lacks a scope. Elsewhere the target looks unknown. Remedy: get a credential with the scopes of `data.requiredScopes`. */
  forbidden: (scopes: readonly string[], challenge: string) => makeError(
    'PATCHBAY_SCOPE_MISSING', codes.invalidRequest, `Forbidden: this needs the scope ${scopes.join(' ')}`,
    { data: { requiredScopes: scopes }, status: 403, headers: { 'www-authenticate': challenge } }),
  /** A tool that is a route of the host application: its hooks answered 401 or 403. Over HTTP that is the status; elsewhere, and in batches, it is an `isError` result. Remedy: log in as the application asks. */
  routeRefused: (status: number, text: string, headers: Record<string, string>) => markRefusal('auth', makeError('PATCHBAY_ROUTE_REFUSED', codes.invalidRequest, text, { status, headers })),
  /** The API key or access token of the connection has expired, or was removed. Remedy: connect again with a new one. */
  expired: () => markRefusal('auth', makeError(
    'PATCHBAY_CREDENTIAL_REFUSED', codes.invalidRequest,
    'Unauthorized: the credential has expired; connect again with a new key or token (with stdio: start the server again with a new token)',
    { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })),
  /** The client has as many calls in flight as limit `maxInFlight` allows. Remedy: wait for some responses. */
  tooManyInFlight: (max: number) => markRefusal('in_flight', internal(
    'PATCHBAY_TOO_MANY_IN_FLIGHT', `Too many calls are waiting for their answer already, at most ${max} (limit maxInFlight); wait for some of them`,
    { data: { max }, status: 429, headers: SOON })),
  /** The calls in flight of the client hold as many bytes as limit `maxBytesInFlight` allows. Remedy: wait for some responses. */
  tooMuchInFlight: (max: number) => markRefusal('in_flight', internal(
    'PATCHBAY_TOO_MUCH_IN_FLIGHT_OF_CLIENT',
    `The calls that are waiting for their answer hold too much already, at most ${max} bytes (limit maxBytesInFlight); wait for some of them`,
    { data: { max }, status: 429, headers: SOON })),
  /** The calls in flight of all clients hold as many bytes as limit `maxAllBytesInFlight` allows. Remedy: try again later. */
  tooMuchInAll: (max: number) => markRefusal('in_flight', internal(
    'PATCHBAY_TOO_MUCH_IN_FLIGHT', `All calls together hold too much already, at most ${max} bytes (limit maxAllBytesInFlight); try again later`,
    { data: { max, retryAfter: 1 }, status: 503, headers: SOON })),
  /** `resources/subscribe`: the client subscribes to as many resources as limit `maxSubscriptions` allows. Remedy: unsubscribe from some. */
  noMoreSubscriptions: (max: number) => invalidParams(
    'PATCHBAY_TOO_MANY_SUBSCRIPTIONS', `a client has at most ${max} subscriptions (limit maxSubscriptions); unsubscribe from some first`),
  /** `subscriptions/listen`: the client subscribes to as many resources as limit `maxSubscriptions` allows. Remedy: end some subscriptions. */
  tooManySubscriptions: (max: number) => internal(
    'PATCHBAY_TOO_MANY_SUBSCRIPTIONS', `A client hears of at most ${max} resources (limit maxSubscriptions); end some subscriptions first`, { data: { max } }),
  /** The URIs that the client subscribes to are as long as limit `maxSubscriptionText` allows. Remedy: end some subscriptions. */
  tooLongSubscriptions: (max: number) => invalidParams(
    'PATCHBAY_SUBSCRIPTIONS_TOO_LONG',
    `the URIs of all subscriptions of a client have at most ${max} characters together (limit maxSubscriptionText); end some subscriptions first`),
  /** `patchbay/watch`: as many calls of it are open as there may be. Remedy: end one of them. */
  tooManyWatchers: (max: number) => internal(
    'PATCHBAY_TOO_MANY_WATCHERS', `At most ${max} clients watch the gateway at once; end one of them first`, { data: { max } }),
  /** The caller exceeds its rate, or that of one tool ([Rate limits](rate-limits.md)). Remedy: wait `data.retryAfter` seconds. */
  tooFast: (what: string, seconds: number, reason: 'rate' | 'tool_rate') => markRefusal(reason, internal(
    'PATCHBAY_TOO_MANY_CALLS', `Too many calls ${what}; try again in ${seconds} s`,
    { data: { retryAfter: seconds }, status: 429, headers: { 'retry-after': String(seconds) } })),
  /** The event loop is late, or memory is short. Remedy: try again later. */
  overloaded: (why: string) => markRefusal('pressure', internal('PATCHBAY_OVERLOADED', `The server is overloaded (${why}); try again later`, RETRY_SOON)),
  /** As many event streams are open as limit `maxStreams` allows. Remedy: try again later, or raise `maxStreams`. */
  tooManyStreams: () => markRefusal('streams', internal(
    'PATCHBAY_TOO_MANY_STREAMS', 'The server is overloaded (there are too many event streams, limit maxStreams); try again later', RETRY_SOON)),
  /** The store cannot read or write. Remedy: the operator looks at the text and at `/health`. */
  storage: (why: string) => internal('PATCHBAY_STORAGE_FAILED', `Storage failed: ${why}`, { data: { details: why } }),
  /** The answer to a question could not be passed on to the node that asked it. Remedy: send the answer again. */
  answerNotPassedOn: (why: string) => internal(
    'PATCHBAY_ANSWER_NOT_PASSED_ON', `The answer could not be passed on to the node that asked (${why}); send it again`, RETRY_SOON),
  /** The store has as many values of this kind as it may. Remedy: delete some. */
  full: (max: number) => internal(
    'PATCHBAY_STORE_FULL', `There are ${max} already, which is as many as there may be; delete some first`, { data: { max } }),
  /** The server stopped, or the session ended, while the call was carried out. Remedy: look whether it took effect before sending it again. */
  interrupted: (why = 'The server was stopped') => internal('PATCHBAY_INTERRUPTED', `${why} before the call was answered; whether it took effect is not known`),
  /** The session or connection ended before the request was read. Remedy: send it again. */
  closed: () => internal('PATCHBAY_CONNECTION_CLOSED', 'The session or connection was closed before the request was read; it was not carried out'),
  /** An HTTP header does not repeat what the body says. Remedy: correct the header that the text names. */
  headerMismatch: (why: string) => makeError('PATCHBAY_HEADER_MISMATCH', codes.headerMismatch, `Header mismatch: ${why}`, { status: 400 }),
  /** The call needs something of the client that the client did not declare. Remedy: declare what `data.requiredCapabilities` lists. */
  missingCapability: (needed: object) => makeError(
    'PATCHBAY_CAPABILITY_MISSING', codes.missingCapability, `The client did not declare a capability this request needs: ${JSON.stringify(needed)}`,
    { data: { requiredCapabilities: needed }, status: 400 }),
  /** A handler needs an answer of the client, which cannot be asked. Remedy: use a client with this capability, and a transport with streams. */
  cannotAsk: (method: string, why: string) => internal('PATCHBAY_CANNOT_ASK', `The client cannot be asked for ${method}: ${why}`),
  /** The client answered a request of the server with an error. Remedy: see the text, which is the client's. */
  clientFailed: (method: string, error: WireError) => internal(
    'PATCHBAY_CLIENT_FAILED', `The client could not answer ${method}: ${shorten(error.message)}`, { cause: fromWire({ ...error, message: cut(error.message, MAX_CAUSE) }) }),
  /** The request names a revision that this server does not support. Remedy: use one of `data.supported`. */
  unsupportedVersion: (requested: string, supported: string[]) => makeError(
    'PATCHBAY_UNSUPPORTED_VERSION', codes.unsupportedVersion, `Unsupported protocol version ${shorten(requested)}; this server speaks ${supported.join(', ')}`,
    { data: { supported, requested: shorten(requested) }, status: 400 }),
  /** An upstream server is not running, and the text says why. Remedy: wait `data.retryAfter` seconds if it is there; else the operator looks at `/health` and the log. */
  upstreamUnavailable: (alias: string, why: string, retryAfter?: number) => internal(
    'PATCHBAY_UPSTREAM_UNAVAILABLE', `The upstream server ${alias} is not available: ${why}${retryAfter === undefined ? '' : `; it is tried again in ${retryAfter} s`}`,
    { data: { upstream: alias, ...(retryAfter === undefined ? {} : { retryAfter }) } }),
  /** An upstream server wants a person to sign in, and the text says why. Remedy: run `data.command` where the gateway runs, with its options, and send the request again ([Sign in](sign-in.md)). */
  signInRequired: (alias: string, why: string, login = `patchbay login ${alias}`, url?: string) => internal(
    'PATCHBAY_SIGN_IN_REQUIRED', `The upstream server ${alias} needs a sign-in: ${why}. ${howToSignIn(login, url)}, and try again`, { data: { upstream: alias, command: login, ...(url !== undefined && { url }) } }),
  /** A page has to be opened first, and the request has no stream on which the client could be asked. Remedy: open the page in `data.elicitations`, then send the request again. */
  pageRequired: (why: string, page: object) => makeError('PATCHBAY_PAGE_REQUIRED', codes.urlElicitationRequired, why, { data: { elicitations: [page] } }),
  /** An upstream server ended, or its connection broke, while it carried the call out. Remedy: look whether it took effect before sending it again. */
  upstreamGone: (alias: string, why: string) => internal(
    'PATCHBAY_UPSTREAM_LOST', `The upstream server ${alias} was lost before it answered (${why}); whether the call took effect is not known`, { data: { upstream: alias } }),
  /** An upstream server answered with something that is not allowed, or a request to it failed. Remedy: the operator of that server looks at the text. */
  upstreamFailed: (alias: string, why: string) => internal('PATCHBAY_UPSTREAM_FAILED', `The upstream server ${alias} failed: ${why}`, { data: { upstream: alias } }),
  /** For upstream servers: they asked a question that cannot be attributed to the call of one client. Remedy: give the server an `isolate` of `principal` or `session`. */
  cannotAttribute: (method: string, why: string) => internal('PATCHBAY_QUESTION_NOT_ATTRIBUTED', `${method} cannot be passed on: ${why}`),
  /** The clipboard cannot be used; `data.details` says why ([Clipboard](built-in-tools.md#the-clipboard)). Remedy: do what `data.hint` says. */
  clipboard: (details: string, hint: string | undefined) => makeError('PATCHBAY_CLIPBOARD', codes.clipboard, 'Clipboard error', { data: { details, hint } }),
  /** The operating system does not let the server read the file. Remedy: the operator changes the permissions of the file. */
  fileUnreadable: (uri: string) => internal('PATCHBAY_FILE_UNREADABLE', 'The server is not permitted to read this file', { data: { uri } }),
  /** The file is larger than limit `maxFile` allows. Remedy: raise `maxFile`. */
  fileTooLarge: (max: number, uri: string) => internal('PATCHBAY_FILE_TOO_LARGE', `The file is larger than ${max} bytes (limit maxFile)`, { data: { uri } }),
  /** The limit of the operating system for watched files is reached. Remedy: end some subscriptions, or raise that limit. */
  tooManyWatches: () => internal('PATCHBAY_TOO_MANY_WATCHED_FILES', 'The file cannot be watched: the system watches as many files as it can already'),
  /** The body of an HTTP error that answers no request in particular; `name` is its code, if it is one of ours. */
  http: (status: number, message: string, name?: string) => new McpError(
    status >= 500 || status === 429 ? codes.internal : codes.invalidRequest, message, name === undefined ? undefined : { code: name }),
  /** The body of an HTTP error that answers a request, under its id. */
  httpOfRequest: (message: string, name: string) => new McpError(codes.invalidRequest, `Invalid Request: ${message}`, { code: name })
}
const howToSignIn = (login: string, url?: string): string =>
  url === undefined ? `Run ${login} where the gateway runs` : `Open ${url} in your browser, or have the operator run ${login} where the gateway runs`
