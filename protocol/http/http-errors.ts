import { markRefusal, shorten } from '../wire/errors.js'
import { HttpError, type AuditReason } from './http-error.js'

const retryAfter = (seconds: number) => ({ headers: { 'retry-after': String(seconds) } })
const SOON = retryAfter(1)

const ISSUER_RETRY = 5
const TICKET_RETRY = 30

/** Makes the value of `WWW-Authenticate`; error and description are those of RFC 6750. */
export type Challenge = (error?: 'invalid_token' | 'invalid_request', description?: string) => string

const authenticate = (challenge: string, audit: AuditReason) => ({ headers: { 'www-authenticate': challenge }, audit })
const UNKNOWN_TICKET = 'the ticket is not known, was used or has expired'

/** Every HTTP error of ours. `npm run errors-page` makes docs/errors.md of this table and of the comments in it. */
export const httpErrors = {
  /** The request has more headers than limit `maxHeaders` allows. Remedy: send fewer headers. */
  tooManyHeaders: (max: number) => markRefusal('size', new HttpError('PATCHBAY_TOO_MANY_HEADERS', 431, `a request has at most ${max} headers`)),
  /** The request target is a whole URL, or `*`, as proxies are sent it. Remedy: send the path alone, such as `POST /mcp`. */
  targetNotPath: () => new HttpError('PATCHBAY_TARGET_NOT_A_PATH', 400, 'the request target must be a path'),
  /** An HTTP/1 request has no `Host` header, or several. Remedy: send exactly one. */
  hostNotSingle: () => new HttpError('PATCHBAY_HOST_NOT_SINGLE', 400, 'there must be exactly one Host header'),
  /**
   * The `Host` is neither a loopback name nor in option `allowedHosts`. This stops DNS rebinding.
   * Remedy: add the name by which clients reach the gateway to `allowedHosts`.
   */
  hostNotAllowed: (host: string | undefined) => markRefusal('origin', new HttpError(
    'PATCHBAY_HOST_NOT_ALLOWED', 403, `Host ${JSON.stringify(host)} is not allowed; add it to allowedHosts`)),
  /** A web page of another origin sent the request. Remedy: add the origin of the page to option `allowedOrigins`. */
  originNotAllowed: (origin: string) => markRefusal('origin', new HttpError(
    'PATCHBAY_ORIGIN_NOT_ALLOWED', 403, `Origin ${JSON.stringify(origin)} is not allowed; add it to allowedOrigins`)),
  /** A `%` in the path is not followed by two hexadecimal digits, or the bytes are not UTF-8. Remedy: encode the path again. */
  undecodablePath: () => new HttpError('PATCHBAY_UNDECODABLE_PATH', 400, 'The path cannot be decoded: % is not followed by two hexadecimal digits, or the bytes are not UTF-8'),
  /** There is no route at this path. Remedy: use `/mcp`, or the path under the gateway's `prefix`. */
  notFound: (method: string, path: string, consolePath?: string) => new HttpError(
    'PATCHBAY_NOT_FOUND', 404, `There is nothing at ${method} ${path}; MCP clients go to /mcp, ${consolePath === undefined ? '' : `people to ${consolePath}, `}and /health tells whether all is well`),
  /**
   * The path names neither a view nor an upstream server that is configured. Remedy: use the name of a view, the alias that `/health` and the
   * banner name, or `/mcp`, which serves everything.
   */
  unknownView: (view: string) => new HttpError(
    'PATCHBAY_UNKNOWN_VIEW', 404, `there is no view or upstream server ${JSON.stringify(shorten(view))}; use the name of a view, the alias of a server as /health lists it, or /mcp without one for everything`),
  /**
   * The credential is bound to one view, and the path is that of another view or of an upstream server.
   * Remedy: use `/mcp`, or the URL of the view that the credential is for.
   */
  otherView: (own: string) => new HttpError(
    'PATCHBAY_OTHER_VIEW', 403, `this credential is for the view ${JSON.stringify(shorten(own))} alone; use /mcp, or the URL of that view`),
  /**
   * GET below `/api` that a page of another site made a browser send. Browsers say so with `Sec-Fetch-Site`.
   * Remedy: send the request from a program, or with POST from an origin of option `allowedOrigins`.
   */
  crossSite: () => markRefusal('origin', new HttpError(
    'PATCHBAY_CROSS_SITE', 403, 'a page of another site made the browser send this; send it from a program')),
  /** A list of tools in the query or in a header is too long. Remedy: send fewer names, or patterns with `*`. */
  narrowingTooLong: (where: string, names: number, patterns: number, length: number) => new HttpError(
    'PATCHBAY_NARROWING_TOO_LONG', 400,
    `${where} has at most ${names} names, of which ${patterns} may have * and then up to ${length} characters`),
  /** The path does not serve this HTTP method. Remedy: use one of those in the `Allow` header. */
  methodNotAllowed: (served: readonly string[]) => new HttpError('PATCHBAY_METHOD_NOT_ALLOWED', 405, `use ${served.join(', ')}`),
  /** GET with the version header of a stateless revision. Remedy: call `subscriptions/listen`. */
  noGetStream: () => new HttpError('PATCHBAY_NO_GET_STREAM', 405, 'this revision has no GET stream; use subscriptions/listen'),
  /** DELETE with the version header of a stateless revision. Remedy: there is no session to end; send nothing. */
  noSessions: () => new HttpError('PATCHBAY_NO_SESSIONS', 405, 'this revision has no sessions'),
  /** POST with an `Accept` header that leaves out JSON or event streams. Remedy: send `Accept: application/json, text/event-stream`. */
  acceptNeedsBoth: () => new HttpError('PATCHBAY_ACCEPT_NEEDS_BOTH', 406, 'Accept must allow application/json and text/event-stream'),
  /** GET of an event stream with an `Accept` header that leaves event streams out. Remedy: send `Accept: text/event-stream`. */
  acceptNeedsEvents: () => new HttpError('PATCHBAY_ACCEPT_NEEDS_EVENTS', 406, 'GET needs "Accept: text/event-stream"'),
  /**
   * GET of `/mcp`, most often by a browser, with an `Accept` header that leaves event streams out.
   * Remedy: connect an MCP client to this address.
   */
  notForBrowsers: () => new HttpError(
    'PATCHBAY_NOT_FOR_BROWSERS', 406, 'this is the address for an MCP client, whose GET has "Accept: text/event-stream"; for people there is /health'),
  /** The upgrade asks for a version of WebSocket other than 13. Remedy: use a WebSocket client of RFC 6455. */
  websocketVersion: () => new HttpError('PATCHBAY_WEBSOCKET_VERSION', 426, 'only WebSocket version 13 is spoken here'),
  /** The body is not declared as JSON, or in another character set. Remedy: send `Content-Type: application/json`. */
  contentType: () => new HttpError('PATCHBAY_CONTENT_TYPE', 415, 'Content-Type must be application/json in UTF-8'),
  /** The body is compressed. Remedy: send it as it is. */
  contentEncoding: () => new HttpError('PATCHBAY_CONTENT_ENCODING', 415, 'Content-Encoding is not supported'),
  /** The connection ended before the whole body was read. Remedy: send the request again. */
  bodyCutShort: () => new HttpError('PATCHBAY_BODY_CUT_SHORT', 400, 'the body was cut short'),
  /**
   * A chunked body with more than 100,000 chunks that are smaller than this on average. The connection is closed.
   * Remedy: buffer the body before sending it.
   */
  chunksTooSmall: (min: number) => markRefusal('size', new HttpError(
    'PATCHBAY_CHUNKS_TOO_SMALL', 400, `the body comes in too many small chunks; write at least ${min} bytes at a time`, { headers: { connection: 'close' } })),
  /** The body is larger than option `maxMessage` allows. Remedy: send less, or raise `maxMessage`. */
  messageTooLarge: (max: number) => markRefusal('size', new HttpError('PATCHBAY_MESSAGE_TOO_LARGE', 413, `the message is too large: at most ${max} bytes`)),
  /**
   * The bodies of all clients that are read or not answered yet take as much memory as limit `maxAllBytesInFlight` allows.
   * Remedy: try again later.
   */
  tooMuchInFlight: (max: number) => markRefusal('in_flight', new HttpError(
    'PATCHBAY_TOO_MUCH_IN_FLIGHT', 503,
    `all clients together have sent too much that is not answered yet, at most ${max} bytes (limit maxAllBytesInFlight); try again later`, SOON)),
  /**
   * HTTP pipelining: the requests before this one on the same connection are not answered yet.
   * Remedy: wait for their replies, or use several connections.
   */
  tooManyPipelined: (max: number) => markRefusal('in_flight', new HttpError(
    'PATCHBAY_TOO_MANY_PIPELINED', 429, `too many requests wait on this connection already, at most ${max} (limit maxPipelined)`, SOON)),
  /** The gateway is closing: it finishes what is in flight. Remedy: try again; another node or the restarted gateway answers. */
  draining: () => markRefusal('draining', new HttpError('PATCHBAY_DRAINING', 503, 'the server is shutting down; try again in a moment', SOON)),
  /**
   * The event loop is late or memory is short. Clients with a session are served longer than new ones.
   * Remedy: try again later; the operator looks at `/health` and at the options named in the text.
   */
  overloaded: (why: string) => markRefusal('pressure', new HttpError('PATCHBAY_OVERLOADED', 503, `the server is overloaded (${why}); try again later`, SOON)),
  /** The caller made more requests than its rate allows ([Rate limits](rate-limits.md)). Remedy: wait as long as `Retry-After` says. */
  tooManyCalls: (seconds: number) => markRefusal('rate', new HttpError(
    'PATCHBAY_TOO_MANY_CALLS', 429, `Too many calls by one caller (option rate); try again in ${seconds} s`, retryAfter(seconds))),

  /**
   * The `MCP-Protocol-Version` header is not the revision that the session negotiated.
   * Remedy: send the version that `initialize` answered.
   */
  versionMismatch: (given: string, negotiated: string | undefined) => new HttpError(
    'PATCHBAY_VERSION_MISMATCH', 400, `MCP-Protocol-Version is ${given}, but this session speaks ${negotiated}`),
  /** `POST /message` with the name of a revision that does not exist. Remedy: send a version of [Revisions](revisions.md), or none. */
  unknownVersion: (version: string, known: string[]) => new HttpError(
    'PATCHBAY_UNKNOWN_VERSION', 400, `MCP-Protocol-Version ${version} is not known; this server speaks ${known.join(', ')}`),
  /**
   * A request of a legacy revision other than `initialize` and `ping` names no session.
   * Remedy: send the `Mcp-Session-Id` that came with the reply to `initialize`.
   */
  sessionIdMissing: () => new HttpError(
    'PATCHBAY_SESSION_ID_MISSING', 400, 'the Mcp-Session-Id header is missing: initialize gives you one, and POST /message needs none'),
  /** Both headers are sent and they differ. Remedy: send `Mcp-Session-Id` alone. */
  sessionIdsDiffer: () => new HttpError('PATCHBAY_SESSION_IDS_DIFFER', 400, 'Mcp-Session-Id and X-Session-ID name different sessions'),
  /** `POST /message` with several `sessionId` parameters. Remedy: post to the address of the `endpoint` event. */
  sessionIdRepeated: () => new HttpError('PATCHBAY_SESSION_ID_REPEATED', 400, 'sessionId must be given once'),
  /** The session expired, was ended, or belongs to another caller. Remedy: send `initialize` again, without a session id. */
  unknownSession: () => new HttpError('PATCHBAY_UNKNOWN_SESSION', 404, 'there is no such session; it may have expired: send initialize again'),
  /** HTTP+SSE: the stream with this `sessionId` is closed, or belongs to another caller. Remedy: open `GET /sse` again. */
  unknownSseSession: () => new HttpError('PATCHBAY_UNKNOWN_SSE_SESSION', 404, 'there is no such session; open GET /sse first'),
  /**
   * HTTP+SSE: the node that has the stream is there but does not reply, so it is not known whether it has the message.
   * Remedy: wait for an answer on the stream before you send the message again.
   */
  postNotPassedOn: () => new HttpError(
    'PATCHBAY_POST_NOT_PASSED_ON', 504, 'the node with your stream does not reply; wait for an answer there before you send this again'),
  /** HTTP+SSE: the node that has the stream could not be reached for 10 s, so it has not got the message. Remedy: send it again later. */
  nodeAway: () => new HttpError('PATCHBAY_NODE_AWAY', 503, 'the node with your stream cannot be reached now; send this again later', SOON),
  /**
   * HTTP+SSE: the node that has the stream does not know the credential, which the node that got the message accepts: their `apiKeys` or `oauth`
   * differ. Remedy: open `GET /sse` again; the operator gives all nodes the same options and reloads those that lag behind.
   */
  credentialUnknownAtNode: () => markRefusal('auth', new HttpError(
    'PATCHBAY_CREDENTIAL_UNKNOWN_AT_NODE', 503, 'the node with your stream does not know your credential; open GET /sse again', { ...SOON, audit: { reason: 'unknown_at_node' } })),
  /** The event that `Last-Event-ID` names is not stored, or is of another stream. Remedy: open the stream without `Last-Event-ID`. */
  nothingToResume: () => new HttpError('PATCHBAY_NOTHING_TO_RESUME', 404, 'nothing can be resumed from this Last-Event-ID'),
  /** HTTP+SSE: the client does not read its stream, whose queue is full. Remedy: read the stream before posting more. */
  streamFull: () => markRefusal('streams', new HttpError('PATCHBAY_STREAM_FULL', 429, 'read the stream first: too much waits there (limit maxQueue)', SOON)),
  /** As many event streams are open as limit `maxStreams` allows. Remedy: try again later, or raise `maxStreams`. */
  tooManyStreams: () => markRefusal('streams', new HttpError('PATCHBAY_TOO_MANY_STREAMS', 503, 'there are too many event streams (limit maxStreams); try again later', SOON)),
  /**
   * As many sessions are open as limit `maxSessions` allows, and all of them are in use.
   * Remedy: try again later, or raise `maxSessions`.
   */
  tooManySessions: () => markRefusal('sessions', new HttpError('PATCHBAY_TOO_MANY_SESSIONS', 503, 'there are too many sessions (limit maxSessions); try again later', SOON)),
  /** The caller has as many sessions as limit `maxSessionsPerPrincipal` allows. Remedy: end some with `DELETE /mcp`. */
  tooManySessionsOfCaller: (max: number) => markRefusal('sessions', new HttpError(
    'PATCHBAY_TOO_MANY_SESSIONS_OF_CALLER', 429, `you have ${max} sessions already (limit maxSessionsPerPrincipal); end some with DELETE`, SOON)),
  /**
   * The store cannot be read or written, so it is not known whether there is such a session.
   * Remedy: try again later; the operator looks at `/health`.
   */
  sessionsUnavailable: (why: string) => new HttpError('PATCHBAY_SESSIONS_UNAVAILABLE', 503, why, SOON),

  /**
   * `POST /approvals/answer` without a signature that is made with the secret of option `approvalWebhook`, or one that is
   * older than five minutes. Remedy: sign id, time and body as [Approval](approval.md#a-webhook) says.
   */
  signatureRefused: (why: string) => new HttpError('PATCHBAY_SIGNATURE_REFUSED', 403, why),
  /** `POST /approvals/answer` with a body that is no answer. Remedy: send the members that the text names. */
  wrongAnswer: (why: string) => new HttpError('PATCHBAY_WRONG_APPROVAL', 400, why),
  /** `POST /approvals/answer` for a call that does not wait any more. Remedy: none is needed; the call was answered, or was not run. */
  notWaiting: (why: string) => new HttpError('PATCHBAY_NO_CALL_WAITS', 409, why),
  /** The store cannot be written, so that no ticket can be issued. Remedy: try again later; the operator looks at `/health`. */
  ticketsUnavailable: (why: string) => new HttpError('PATCHBAY_TICKETS_UNAVAILABLE', 503, `${why}; try again later`, SOON),
  /**
   * The request has no API key, access token or ticket.
   * Remedy: send `Authorization: Bearer` with one ([Authentication](authentication.md)).
   */
  noCredential: (challenge: Challenge) => markRefusal('auth', new HttpError(
    'PATCHBAY_NO_CREDENTIAL', 401, 'say who you are: send "Authorization: Bearer" with an API key or an access token',
    authenticate(challenge(), { reason: 'no_credential' }))),
  /**
   * The host application identifies callers, and set no `request.identity` for this request.
   * Remedy: log in as the host application asks; its author sets `request.identity` in a hook before Patchbay's.
   */
  noIdentity: (challenge: Challenge) => markRefusal('auth', new HttpError(
    'PATCHBAY_NO_IDENTITY', 401, 'the application did not say who is calling', authenticate(challenge(), { reason: 'no_identity' }))),
  /**
   * The host application set a `request.identity` of another shape than Patchbay expects; its log says which.
   * Remedy: the author of the host application corrects it ([Embed](embed.md)).
   */
  identityMalformed: (challenge: Challenge) => markRefusal('auth', new HttpError(
    'PATCHBAY_IDENTITY_MALFORMED', 401, 'the application set an identity that cannot be used', authenticate(challenge(), { reason: 'malformed_identity' }))),
  /**
   * The credential is where it does not count: in the URL, or in an `Authorization` header that is not `Bearer`.
   * Remedy: send it as `Authorization: Bearer`.
   */
  credentialIgnored: (why: string, challenge: Challenge, reason: string) => markRefusal('auth', new HttpError(
    'PATCHBAY_CREDENTIAL_IGNORED', 401, why, authenticate(challenge(), { reason }))),
  /** There are several credentials, or a header holds more than one token. Remedy: send exactly one. */
  credentialMalformed: (why: string, challenge: Challenge) => markRefusal('auth', new HttpError(
    'PATCHBAY_CREDENTIAL_MALFORMED', 400, why, authenticate(challenge('invalid_request', why), { reason: 'malformed_credential', detail: why }))),
  /** The API key or access token is unknown, expired, or for another audience; the audit log says which. Remedy: get a new one. */
  credentialRefused: (why: string, challenge: Challenge, { reason, detail }: AuditReason) => markRefusal('auth', new HttpError(
    'PATCHBAY_CREDENTIAL_REFUSED', 401, why, authenticate(challenge('invalid_token', why), { reason, detail }))),
  /**
   * The credential lacks the scope that the path needs, such as `metrics` for `/metrics`.
   * Remedy: use a credential with that scope, or with `admin`.
   */
  scopeMissing: (scopes: readonly string[], challenge: string) => markRefusal('auth', new HttpError(
    'PATCHBAY_SCOPE_MISSING', 403, `this needs the scope ${scopes.join(' ')}`, authenticate(challenge, { reason: 'insufficient_scope' }))),
  /** The ticket was used before, or is older than limit `ticketLifetime`. Remedy: get a new one with `POST /ticket`. */
  ticketRefused: (challenge: Challenge) => markRefusal('auth', new HttpError(
    'PATCHBAY_TICKET_REFUSED', 401, UNKNOWN_TICKET, authenticate(challenge('invalid_token', UNKNOWN_TICKET), { reason: 'unknown_ticket' }))),
  /**
   * One address sent more wrong credentials in a minute than limit `maxWrongCredentials` allows.
   * Remedy: stop, and correct the credential.
   */
  tooManyWrongCredentials: (seconds: number, isLogged: boolean) => markRefusal('auth', new HttpError(
    'PATCHBAY_TOO_MANY_WRONG_CREDENTIALS', 429,
    'too many wrong credentials from this address (limit maxWrongCredentials); a right one is accepted at any time',
    { ...retryAfter(seconds), audit: { reason: 'too_many_wrong' }, isLogged })),
  /**
   * The signing keys of the token issuer cannot be fetched, so an access token cannot be verified.
   * Remedy: try again later; the operator looks at `/health`.
   */
  credentialUnverifiable: (why: string) => markRefusal('auth', new HttpError('PATCHBAY_CREDENTIAL_UNVERIFIABLE', 503, `${why}; try again later`, retryAfter(ISSUER_RETRY))),
  /** The caller has as many unused tickets as one may have. Remedy: use them, or wait until they expire. */
  tooManyTickets: () => markRefusal('auth', new HttpError('PATCHBAY_TOO_MANY_TICKETS', 429, 'there are too many unused tickets', retryAfter(TICKET_RETRY)))
}
