import { errors, isMcpError, type McpError, type WireError } from './errors.js'
import { withoutByteOrderMark, asBuffer, examine, isObject, parseJson } from './json.js'
import { LIMITS, type MessageLimits } from './limits.js'
import { META, metaOf } from './meta.js'
import { findExceededLimit, scanRequestId, needsScan } from './message-scan.js'

export type Id = string | number
export type Params = Record<string, unknown>

/** A request as it was decoded. */
export interface Request {
  kind: 'request'
  id: Id
  method: string
  params: Params
  /** The `_meta` of the params. */
  meta: Readonly<Params>
  /** True when `_meta` names a protocol version: the request needs neither `initialize` nor a session. */
  selfDescribed: boolean
  /** About how many bytes are held as long as the params are. */
  size: number
}

export interface Notification { kind: 'notification', method: string, params: Params, size?: number }
/** An error response without an id answers nothing we can name; it is only noted. */
export interface Response {
  kind: 'response'
  id: Id | undefined
  result?: unknown
  error?: WireError
  /** Names a key such as `__proto__` that it has, where the limits allow to read it. */
  forbidden?: string
}
/** Something that is not a message; `id` is set when it could still be read. */
export interface Invalid { kind: 'invalid', id: Id | undefined, error: McpError }
export interface Batch { kind: 'batch', messages: Message[] }

export type Message = Request | Notification | Response | Invalid
export type Incoming = Message | Batch

/** Bytes that a value takes besides its characters; an empty object takes the most. */
const VALUE_SIZE = 64

/**
 * The one parser of all transports: bytes or text to a message. A byte order mark before it is left out.
 * Never throws: what cannot be read becomes an `Invalid`.
 */
export function decode (raw: Uint8Array | string, limits: MessageLimits = LIMITS): Incoming {
  const input = withoutByteOrderMark(raw)
  try {
    if (needsScan(input.length, limits)) {
      if (typeof input === 'string') return decode(Buffer.from(input), limits)
      const refused = refuseOversized(asBuffer(input), limits)
      if (refused !== undefined) return refused
    }
    const value = parseJson(input)
    return Array.isArray(value) ? batch(value, limits, input.length) : envelope(value, limits, input.length)
  } catch (error) {
    return invalid(undefined, error)
  }
}

/**
 * The request that a body stands for which is JSON and no message: `paramsOf` makes its params of the value, and an
 * empty body has none. Never throws.
 */
export function decodeRequest (
  raw: Uint8Array,
  limits: MessageLimits,
  method: string,
  paramsOf: (value: unknown) => Params
): Request | Invalid {
  const input = withoutByteOrderMark(raw)
  try {
    const exceeded =
      needsScan(input.length, limits) ? findExceededLimit(asBuffer(input), 0, input.length, limits) : undefined
    if (exceeded !== undefined) throw exceeded
    const value = input.length === 0 ? undefined : parseJson(input)
    const { values, forbidden } = examine(value, limits)
    if (forbidden !== undefined) throw errors.invalidRequest(forbidden)
    return request(1, method, paramsOf(value), input.length + VALUE_SIZE * values)
  } catch (error) {
    return invalid(undefined, error)
  }
}

export const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value)

export const encodeId = (id: Id): string => typeof id === 'number' ? String(id) : JSON.stringify(id)

/** `json` is the result as JSON text. */
export const encodeResult = (id: Id, json: string): string => `{"jsonrpc":"2.0","id":${encodeId(id)},"result":${json}}`

/** The text before the `SharedTail` of a result. */
export const encodeStart = (id: Id): string => `{"jsonrpc":"2.0","id":${encodeId(id)}`

/** An undefined `id` is left out, `null` is written. */
export function encodeError (id: Id | null | undefined, { code, message, data }: McpError): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    ...(id === undefined ? {} : { id }),
    error: { code, message, ...(data === undefined ? {} : { data }) }
  })
}

export const encodeNotification = (method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })

/** `json` is the params as JSON text. */
export const encodeNotificationWith = (method: string, json: string): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${json}}`

export const encodeRequest = (id: Id, method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

/** `json` is the params as JSON text. */
export const encodeRequestWith = (id: Id, method: string, json: string): string =>
  `{"jsonrpc":"2.0","id":${encodeId(id)},"method":${JSON.stringify(method)},"params":${json}}`

/** Refuses a large message that would cost too much to read; undefined when it may be read. */
function refuseOversized (bytes: Buffer, limits: MessageLimits): Invalid | undefined {
  const error = findExceededLimit(bytes, 0, bytes.length, limits)
  if (error === undefined) return undefined
  const id = readId(scanRequestId(bytes, 0, bytes.length))
  return invalid(isId(id) && !isLong(id, limits) ? id : undefined, error)
}

function readId (json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json)
  } catch {
    return undefined
  }
}

function batch (items: unknown[], limits: MessageLimits, size: number): Incoming {
  if (items.length === 0) return invalid(undefined, errors.invalidRequest('the batch is empty'))
  if (items.length > limits.maxBatch) {
    return invalid(undefined, errors.invalidRequest(`a batch holds at most ${limits.maxBatch} messages`))
  }
  if (items.some(item => Array.isArray(item))) {
    return invalid(undefined, errors.invalidRequest('a batch holds messages, not batches'))
  }
  return { kind: 'batch', messages: items.map(item => envelope(item, limits, Math.ceil(size / items.length))) }
}

function envelope (value: unknown, limits: MessageLimits, size: number): Message {
  if (!isObject(value)) return invalid(undefined, errors.invalidRequest('a message is a JSON object'))
  const id = isId(value.id) && !isLong(value.id, limits) ? value.id : undefined
  const answers = value.method === undefined && ('result' in value || 'error' in value)
  try {
    if (value.jsonrpc !== '2.0') throw errors.invalidRequest('"jsonrpc" must be "2.0"')
    if (value.id !== undefined && id === undefined && !answers) {
      throw errors.invalidRequest(
        isId(value.id) ? `"id" must have at most ${limits.maxId} characters` : '"id" must be a string or a safe integer'
      )
    }
    const { values, forbidden } = examine(value, limits)
    if (forbidden !== undefined && !answers) throw errors.invalidRequest(forbidden)
    if (!answers) return call(id, value, size + VALUE_SIZE * values)
    return forbidden === undefined ? response(id, value) : { ...response(id, value), forbidden }
  } catch (error) {
    // The id of a response is one of ours; sent back, it would look like the answer to a request of the client.
    return invalid(answers ? undefined : id, error)
  }
}

const isLong = (id: Id, { maxId }: MessageLimits): boolean => typeof id === 'string' && id.length > maxId

function call (id: Id | undefined, { method, params }: Record<string, unknown>, size: number): Request | Notification {
  if (typeof method !== 'string') throw errors.invalidRequest('"method" must be a string')
  if (Array.isArray(params)) throw errors.invalidParams('"params" must be an object, not an array')
  if (params !== undefined && !isObject(params)) throw errors.invalidRequest('"params" must be an object')
  return id === undefined
    ? { kind: 'notification', method, params: params ?? {}, size }
    : request(id, method, params ?? {}, size)
}

function request (id: Id, method: string, params: Params, size: number): Request {
  const meta = metaOf(params)
  return { kind: 'request', id, method, params, meta, selfDescribed: Object.hasOwn(meta, META.version), size }
}

function response (id: Id | undefined, { result, error }: Record<string, unknown>): Response {
  if (result !== undefined && error !== undefined) {
    throw errors.invalidRequest('a response has a "result" or an "error", not both')
  }
  if (id === undefined && error === undefined) throw errors.invalidRequest('a response needs the "id" of its request')
  if (error === undefined) return { kind: 'response', id, result }
  const { code, message, data } = isObject(error) ? error : {}
  if (!Number.isInteger(code) || typeof message !== 'string') {
    throw errors.invalidRequest('"error" needs an integer code and a message')
  }
  return { kind: 'response', id, error: { code: code as number, message, data } }
}

// Reading can fail in ways that are no fault of JSON: an option may allow nesting deeper than the stack, or texts
// longer than V8's.
function invalid (id: Id | undefined, error: unknown): Invalid {
  return {
    kind: 'invalid',
    id,
    error: isMcpError(error) ? error : errors.parse('the message is nested too deeply or too long to be read', error)
  }
}
