import { isUtf8 } from 'node:buffer'
import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http'
import { examine, isObject } from '../../../protocol/wire/json.js'
import type { MessageLimits } from '../../../protocol/wire/limits.js'
import type { Redact } from '../../secrets.js'
import type { Site } from '../site.js'
import { nextPage } from './next-page.js'

/** The reply of an API, complete. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The path and query that it answers. */
  readonly path: string
}

/** The parts of requests to an API that callers are not told, because they may have a secret of the entry. */
type Fixed = Pick<Site, 'setQuery' | 'basePath'>

/** Bounds what a caller gets. */
interface Bounds { readonly limits: MessageLimits, readonly redact: Redact }

type Result = Record<string, unknown>

/** How much of the body of an error a caller gets, in bytes. */
const MAX_ERROR = 4_096

/** The result of a call, from the reply that it got: what went wrong at the API is an `isError` result. */
export function toResult (reply: Reply, method: string, fixed: Fixed, { limits, redact }: Bounds): Result {
  const { status, body } = reply
  if (status >= 400) return toFailure(reply, redact)
  if (method === 'HEAD') return headResult(reply)
  if (body.length === 0) return { content: [text(status === 204 || status === 205 ? 'No content' : `Status ${status}, without content`)] }
  const result = contentOf(reply, fixed, limits, redact)
  const next = nextPage(reply, fixed.setQuery)
  if (next !== undefined) (result['content'] as object[]).push(text(next))
  return result
}

const text = (value: string): object => ({ type: 'text', text: value })

/** The status, what it says about a later try, and the beginning of the body. */
function toFailure ({ status, headers, body }: Reply, redact: Redact): Result {
  const words = [`The API answered with status ${status}${STATUS_CODES[status] === undefined ? '' : ` (${STATUS_CODES[status]})`}`]
  const wait = headers['retry-after']
  if (wait !== undefined && /^[\w ,:+-]{1,40}$/.test(wait)) {
    words.push(/^\d+$/.test(wait) ? `try again after ${wait} s` : `try again after ${wait}`)
  }
  const said = mediaTypeOf(headers).isText || isUtf8(body) ? decode(body.subarray(0, MAX_ERROR), 'utf-8', true) : ''
  const rest = body.length > MAX_ERROR ? `\n… (${body.length} bytes in all)` : ''
  // A server may repeat the credential that it refuses.
  return { content: [text(redact(`${words.join('; ')}${said === '' ? '' : `: ${said}${rest}`}`))], isError: true }
}

/** The headers that tell of a thing without its bytes, and the longest value of one, in characters. */
const HEAD = ['content-type', 'content-length', 'etag', 'last-modified']
const MAX_VALUE = 1_000

/** A reply to HEAD: what its headers tell. */
function headResult ({ status, headers }: Reply): Result {
  const told = HEAD.flatMap(name => typeof headers[name] === 'string' ? [[name, headers[name].slice(0, MAX_VALUE)]] : [])
  const lines = [`Status ${status}`, ...told.map(([name, value]) => `${name}: ${value}`)]
  return { content: [text(lines.join('\n'))], structuredContent: { status, ...Object.fromEntries(told) as object } }
}

function contentOf (reply: Reply, fixed: Fixed, limits: MessageLimits, redact: Redact): Result {
  const { headers, body } = reply
  const { type, charset, isJson, isText } = mediaTypeOf(headers)
  const decoded = isJson || isText || (type === '' && isUtf8(body)) ? decode(body, charset) : undefined
  if (decoded === undefined) return { content: [blockOf(type, reply, fixed.basePath, redact)] }
  const structured = isJson ? structure(decoded, limits) : undefined
  const content = [text(decoded)]
  return structured === undefined ? { content } : { content, structuredContent: structured }
}

/** The value of a JSON text, in an object; undefined where it is not JSON, or more than a message may have. */
function structure (json: string, limits: MessageLimits): object | undefined {
  try {
    const value: unknown = JSON.parse(json)
    if (examine(value, limits).forbidden !== undefined) return undefined
    return isObject(value) ? value : { result: value }
  } catch {
    return undefined
  }
}

function blockOf (type: string, { body, path }: Reply, basePath: string, redact: Redact): object {
  const [data, mimeType] = [body.toString('base64'), type === '' ? 'application/octet-stream' : type]
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return { type: 'image', data, mimeType }
  if (/^audio\//.test(type)) return { type: 'audio', data, mimeType }
  // The query and the path of the API may have secrets of the entry.
  const [whole = ''] = path.split('?', 1)
  const own = whole.startsWith(`${basePath}/`) ? whole.slice(basePath.length) : whole
  return { type: 'resource', resource: { uri: `api:${redact(own)}`, mimeType, blob: data } }
}

function mediaTypeOf ({ 'content-type': given = '' }: IncomingHttpHeaders) {
  const type = /^[^;\s]*/.exec(given)?.[0].toLowerCase() ?? ''
  const [, charset = 'utf-8'] = /;\s*charset="?([\w.:-]{1,40})/i.exec(given) ?? []
  const isJson = /[/+]json$/.test(type) || type === 'application/x-ndjson'
  return { type, charset, isJson, isText: isJson || /^text\/|[/+](xml|yaml|x-yaml|javascript|graphql|x-www-form-urlencoded)$/.test(type) }
}

/** The text of bytes; undefined where they are not in their character set. */
function decode (bytes: Buffer, charset: string, isLenient = false): string | undefined {
  // Nearly all of them are UTF-8 without a byte order mark, which needs no decoder of its own.
  if (/^utf-?8$/i.test(charset) && bytes[0] !== 0xef && isUtf8(bytes)) return bytes.toString()
  try {
    return new TextDecoder(charset, { fatal: !isLenient }).decode(bytes)
  } catch {
    return undefined
  }
}
