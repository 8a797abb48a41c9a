import { STATUS_CODES } from 'node:http'
import type { HttpError } from '../../protocol/http/http-error.js'
import { codes, isErrorCode, type WireError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'

/** The HTTP reply that a response becomes. */
export interface RestOutcome {
  readonly status: number
  readonly body: string
  /** With `content-type` where the body is other than plain JSON. */
  readonly headers?: Record<string, string>
}

/** The statuses of errors that are JSON-RPC errors like any other for MCP clients, by their `data.code`. */
const STATUSES: Readonly<Record<string, number>> = {
  PATCHBAY_WRONG_ARGUMENTS: 400,
  PATCHBAY_FIXED_ARGUMENT: 400,
  PATCHBAY_UNKNOWN_TOOL: 404,
  PATCHBAY_UNKNOWN_RESOURCE: 404,
  PATCHBAY_UNKNOWN_VIEW: 404,
  PATCHBAY_CAPABILITY_MISSING: 501,
  PATCHBAY_UPSTREAM_LOST: 502,
  PATCHBAY_UPSTREAM_FAILED: 502,
  PATCHBAY_CLOSING: 503,
  PATCHBAY_INTERRUPTED: 503,
  PATCHBAY_STORAGE_FAILED: 503,
  PATCHBAY_SIGN_IN_REQUIRED: 503,
  PATCHBAY_TOO_MANY_PARKED: 503,
  PATCHBAY_TOO_MUCH_PARKED: 503,
  PATCHBAY_UPSTREAM_UNAVAILABLE: 503,
  PATCHBAY_TIMEOUT: 504,
  PATCHBAY_UPSTREAM_TIMEOUT: 504
}

/** The member of `_meta` in a failed result that has what `data` of the JSON-RPC error would have. */
const REASON = 'patchbay/error'

/** A problem as HTTP has it (RFC 9457). `detail` says what was wrong and what to do, `more` is for programs. */
export function problem (
  status: number,
  detail: string,
  more: object = {},
  headers: Record<string, string> = {}
): RestOutcome {
  return {
    status,
    body: JSON.stringify({ ...more, title: STATUS_CODES[status] ?? 'Error', status, detail }),
    headers: { ...headers, 'content-type': 'application/problem+json' }
  }
}

/** The problem of a request that was refused before there was a call. */
export const problemOfRefusal = ({ statusCode, message, code, headers }: HttpError): RestOutcome =>
  problem(statusCode, message, { code }, headers)

/** The problem of a JSON-RPC error; `given` is the HTTP status that it has for MCP clients. */
export function problemOfError ({ code, message, data }: WireError, given: number): RestOutcome {
  const { details, hint, ...reason } = isObject(data) ? data : {}
  const isOurs = isErrorCode(reason.code)
  const status = (isOurs ? STATUSES[reason.code as string] : undefined) ?? (given === 200 ? statusOfCode(code) : given)
  const more = isOurs ? reason : data === undefined ? {} : { data }
  const known = typeof hint === 'string' && !message.includes(hint) ? `${message}. ${hint}` : message
  return problem(status, inWordsOfRest(known), more, waitOf(isOurs ? reason : {}))
}

/** The problem of a result that reports a failure of the tool. */
export function problemOfFailure ({ content = [], structuredContent, _meta }: FailedResult): RestOutcome {
  const reason = isObject(_meta) && isObject(_meta[REASON]) ? _meta[REASON] : {}
  const detail = content.flatMap(({ type, text }) => type === 'text' && typeof text === 'string' ? [text] : []).join('\n')
  const hasMore = content.some(({ type }) => type !== 'text')
  const more = {
    ...reason,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(hasMore ? { content } : {})
  }
  const status = STATUSES[String(reason.code)] ?? 422
  return problem(status, inWordsOfRest(detail === '' ? 'The tool failed and did not say why' : detail), more, waitOf(reason))
}

/** A result of `tools/call` that reports a failure. */
export interface FailedResult {
  readonly content?: ReadonlyArray<Record<string, unknown>>
  readonly structuredContent?: unknown
  readonly _meta?: unknown
}

function statusOfCode (code: number): number {
  if (code === codes.invalidParams) return 400
  return code === codes.internal ? 500 : 422
}

function waitOf ({ retryAfter }: Record<string, unknown>): Record<string, string> {
  return typeof retryAfter === 'number' ? { 'retry-after': String(Math.ceil(retryAfter)) } : {}
}

/** A text that names members of JSON-RPC, with the names that they have here. */
const inWordsOfRest = (text: string): string =>
  text.replace(/^Invalid (params|Request): /, '').replaceAll('requestState', 'state')
