import { isUtf8 } from 'node:buffer'
import { shorten, errors } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import type { Params, Request } from '../wire/jsonrpc.js'
import type { Headers } from '../wire/channel.js'
import type { Schema } from '../schema/schema.js'

/** Where a body value is mirrored: the header and the path of `properties` that leads to the value. */
export interface Mirror { header: string, path: string[] }

const NAME_SOURCE: Record<string, string> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId'
}
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const BY_NAME = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])
const DATA = new Set(['default', 'examples', 'const', 'enum'])
const MIRRORED_TYPES = new Set(['string', 'integer', 'boolean'])

/** HTTP headers that repeat parts of the body must agree with it: proxies route by the one, we answer by the other. */
export const checkHeaders = { version, message, params }

function version (headers: Headers, claimed: string, request: Request): void {
  if (headers['mcp-protocol-version'] === undefined) throw errors.headerMismatch(missingHeaders(headers, request))
  expect(headers, 'MCP-Protocol-Version', claimed)
}

function message (headers: Headers, request: Request): void {
  const { method, params } = request
  if (headers['mcp-method'] === undefined) throw errors.headerMismatch(missingHeaders(headers, request))
  expect(headers, 'Mcp-Method', method)
  const source = NAME_SOURCE[method]
  if (source !== undefined && typeof params[source] === 'string') {
    expect(headers, 'Mcp-Name', params[source], decodeValue)
  }
}

/** A sentence with all headers that a request needs and lacks, or an empty text. */
export function missingHeaders (headers: Headers, { method, params }: Request): string {
  const source = NAME_SOURCE[method]
  const needed = [
    'MCP-Protocol-Version',
    'Mcp-Method',
    ...(source !== undefined && typeof params[source] === 'string' ? ['Mcp-Name'] : [])
  ]
  return areMissing(needed.filter(name => headers[name.toLowerCase()] === undefined))
}

function areMissing (names: string[]): string {
  if (names.length < 2) return names.length === 0 ? '' : `${names[0]} is missing`
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are missing`
}

function params (headers: Headers, mirrors: Mirror[], args: Params): void {
  for (const { header, path } of mirrors) {
    const value = valueAt(args, path)
    const given = headers[header.toLowerCase()]
    if (value === undefined || value === null) {
      if (given !== undefined) throw errors.headerMismatch(`${header} is set but arguments.${path.join('.')} is not`)
    } else if (given === undefined) {
      throw errors.headerMismatch(areMissing(missingMirrors(headers, mirrors, args)))
    } else if (!same(decodeValue(header, given), value)) {
      throw errors.headerMismatch(`${header} does not repeat arguments.${path.join('.')}`)
    }
  }
}

/** The mirrors whose header a request has. */
export const givenMirrors = (headers: Headers, mirrors: Mirror[]): Mirror[] =>
  mirrors.filter(({ header }) => headers[header.toLowerCase()] !== undefined)

function missingMirrors (headers: Headers, mirrors: Mirror[], args: Params): string[] {
  const lacking = mirrors.filter(
    ({ header, path }) =>
      (valueAt(args, path) ?? undefined) !== undefined && headers[header.toLowerCase()] === undefined
  )
  return lacking.map(({ header }) => header)
}

/**
 * The headers that a client puts on a request, names and values in turn: they repeat the method and what it is about.
 */
export function mirrorMessage (method: string, params: Params): string[] {
  const source = NAME_SOURCE[method]
  const name = source === undefined ? undefined : params[source]
  return typeof name === 'string' ? ['mcp-method', method, 'mcp-name', encodeValue(name)] : ['mcp-method', method]
}

/** The headers that a client puts on `tools/call` for arguments that are mirrored; those without a value have none. */
export function mirrorParams (mirrors: Mirror[], args: Params): Record<string, string> {
  return Object.fromEntries(mirrors.flatMap(({ header, path }) => {
    const value = valueAt(args, path)
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[header, encodeValue(String(value))]]
      : []
  }))
}

/** Reads a tool's `x-mcp-header` annotations. Throws where one stands in a place or form the specification forbids. */
export function mirrorsOf (schema: Schema): Mirror[] {
  const mirrors: Mirror[] = []
  collect(schema, [], mirrors)
  const names = mirrors.map(({ header }) => header.toLowerCase())
  if (new Set(names).size < names.length) throw new Error('two properties have the same x-mcp-header')
  if (count(schema) > mirrors.length) {
    throw new Error('x-mcp-header is only allowed on properties reached through "properties" alone')
  }
  return mirrors
}

function collect (schema: unknown, path: string[], mirrors: Mirror[]): void {
  if (!isObject(schema)) return
  const name = schema['x-mcp-header']
  if (name !== undefined) {
    if (typeof name !== 'string' || !TOKEN.test(name)) {
      throw new Error(`x-mcp-header ${JSON.stringify(name)} is not a header name`)
    }
    if (!MIRRORED_TYPES.has(schema.type as string)) {
      throw new Error(`x-mcp-header "${name}" needs a property of type string, integer or boolean`)
    }
    mirrors.push({ header: `Mcp-Param-${name}`, path })
  }
  if (isObject(schema.properties)) {
    for (const [key, inner] of Object.entries(schema.properties)) collect(inner, [...path, key], mirrors)
  }
}

/**
 * How many annotations there are in all places where a schema can stand; data such as `default` or `enum` is not one.
 */
function count (schema: unknown): number {
  if (!isObject(schema)) return 0
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (BY_NAME.has(keyword)) return isObject(value) ? Object.values(value) : []
    return DATA.has(keyword) ? [] : value
  })
  return inner.reduce<number>((sum, value) => sum + count(value), 'x-mcp-header' in schema ? 1 : 0)
}

function expect (headers: Headers, name: string, value: string, read = headerText): void {
  const given = read(name, headers[name.toLowerCase()])
  if (given !== value) throw errors.headerMismatch(`${name} is "${shorten(given)}", the body says "${shorten(value)}"`)
}

function headerText (name: string, value: string | string[] | undefined): string {
  if (value === undefined) throw errors.headerMismatch(`${name} is missing`)
  const text = String(value).trim()
  if (/[^\t\x20-\x7e]/.test(text)) throw errors.headerMismatch(`${name} has characters that have to be encoded`)
  return text
}

function decodeValue (name: string, value: string | string[] | undefined): string {
  const raw = headerText(name, value)
  const encoded = /^=\?base64\?(.*)\?=$/.exec(raw)?.[1]
  if (encoded === undefined) return raw
  const bytes = Buffer.from(encoded, 'base64')
  // Node's decoder skips what is not Base64, so only a faithful round trip counts.
  if (bytes.toString('base64') !== encoded || !isUtf8(bytes)) {
    throw errors.headerMismatch(`${name} is not valid Base64 of UTF-8`)
  }
  return bytes.toString('utf8')
}

/** Text that a header cannot carry as it is, or that looks encoded already, is encoded. */
function encodeValue (text: string): string {
  const isPlain = /^([\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?)?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

const valueAt = (args: Params, path: string[]): unknown =>
  path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), args)

function same (header: string, value: unknown): boolean {
  return typeof value === 'number'
    ? /^-?\d+(\.0+)?$/.test(header) && Number(header) === value
    : header === String(value)
}
