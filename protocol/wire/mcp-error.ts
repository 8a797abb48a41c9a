/** Why a message, request or connection was refused before anything was done for it. */
export type RefusalReason =
  | 'rate'
  | 'tool_rate'
  | 'in_flight'
  | 'pressure'
  | 'draining'
  | 'sessions'
  | 'streams'
  | 'connections'
  | 'size'
  | 'auth'
  | 'origin'

/** One refusal; `status` is that of the HTTP reply, where there is one. */
export interface Refusal { readonly reason: RefusalReason, readonly status?: number | undefined }

/**
 * An error that crosses the wire. Anything else a handler throws reaches the client as an internal error with a
 * correlation id.
 */
export class McpError extends Error {
  override readonly name = 'McpError'
  /** The HTTP status, where the request itself is at fault and not what it asked for. */
  readonly status: number | undefined
  /** Headers that the HTTP reply has besides. */
  readonly headers: Record<string, string> | undefined
  /** Set where the message was refused before anything was done for it. */
  refusal: RefusalReason | undefined = undefined

  constructor (
    readonly code: number,
    message: string,
    readonly data?: unknown,
    status?: number,
    headers?: Record<string, string>,
    options?: ErrorOptions
  ) {
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
export const isAboutRequest = ({ status, code }: McpError): boolean =>
  status !== undefined || code === codes.urlElicitationRequired

/** An error as it is sent; `cause` never is, and is set between two ends in one process only. */
export interface WireError { code: number, message: string, data?: unknown, cause?: unknown }

/** Marks an error as a refusal for this reason. */
export function markRefusal<E extends { refusal: RefusalReason | undefined }> (reason: RefusalReason, error: E): E {
  error.refusal = reason
  return error
}

/** The error of a response, for the author of the request. */
export const fromWire = ({ code, message, data, cause }: WireError): McpError =>
  new McpError(code, message, data, undefined, undefined, cause === undefined ? {} : { cause })

/** The error of an upstream for a client: with the code and the HTTP status that the client's revision has for it. */
export const relayError = ({ message, data, headers, cause }: McpError, code: number, status: number): McpError =>
  new McpError(code, message, data, status, headers, { cause })

/** The error with one more sentence, in its text and its details. */
export function withSentence (
  { code, message, data, status, headers, cause }: McpError,
  sentence: string
): McpError {
  const details = Object(data) as { details?: unknown }
  const amended = typeof details.details === 'string' ? { ...details, details: `${details.details}. ${sentence}` } : data
  return new McpError(code, `${message}. ${sentence}`, amended, status, headers, { cause })
}
