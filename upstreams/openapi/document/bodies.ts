import { isObject } from '../../../protocol/wire/json.js'
import { isBinary } from '../schema/schemas.js'
import { listOf, type Json, type References } from './references.js'
import { named, schemaOfSwagger, styleOf, type Style } from './parameters.js'

/** How the bytes of a body are made of its value. */
export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes'

/** How one member of a form is written. */
export interface Part {
  /** Undefined where an object or a list of objects is JSON. */
  readonly style: Style | undefined
  readonly contentType: string | undefined
  readonly isFile: boolean
}

/** The body of the requests of an operation. */
export interface RequestBody {
  readonly mediaType: string
  readonly kind: BodyKind
  readonly required: boolean
  readonly raw: unknown
  /** How members of a form are written that are no plain text. */
  readonly parts: ReadonlyMap<string, Part>
}

/** Reads the body of an operation; undefined where it has none. Throws in words where it cannot be sent. */
export function readBody (
  operation: Json,
  parameters: readonly Json[],
  document: Json,
  references: References
): RequestBody | undefined {
  if (operation['requestBody'] === undefined) return readSwaggerBody(operation, parameters, document, references)
  const body = references.follow(operation['requestBody'])
  if (body === undefined) throw new Error(`its requestBody is a reference that leads nowhere${named(operation['requestBody'])}`)
  const content = isObject(body['content']) ? body['content'] : {}
  const mediaType = chooseType(Object.keys(content))
  if (mediaType === undefined) return undefined
  const media = references.follow(content[mediaType]) ?? {}
  const kind = kindOf(mediaType, media['schema'], references)
  return {
    mediaType: sentType(mediaType, kind),
    kind,
    required: body['required'] === true,
    raw: media['schema'],
    parts: partsOf(media['schema'], media['encoding'], references)
  }
}

function readSwaggerBody (
  operation: Json,
  parameters: readonly Json[],
  document: Json,
  references: References
): RequestBody | undefined {
  const consumed = listOf(operation['consumes'] ?? document['consumes']).filter(type => typeof type === 'string')
  const body = parameters.find(raw => raw['in'] === 'body')
  if (body !== undefined) {
    const mediaType = chooseType(consumed) ?? 'application/json'
    const kind = kindOf(mediaType, body['schema'], references)
    const isForm = kind === 'form' || kind === 'multipart'
    return {
      mediaType: isForm ? 'application/json' : sentType(mediaType, kind),
      kind: isForm ? 'json' : kind,
      required: body['required'] === true,
      raw: body['schema'],
      parts: new Map()
    }
  }
  const fields = parameters.filter(raw => raw['in'] === 'formData' && typeof raw['name'] === 'string')
  if (fields.length === 0) return undefined
  const hasFile = fields.some(raw => raw['type'] === 'file')
  const isForm = !hasFile && (consumed.length === 0 || consumed.includes('application/x-www-form-urlencoded'))
  return {
    mediaType: isForm ? 'application/x-www-form-urlencoded' : 'multipart/form-data',
    kind: isForm ? 'form' : 'multipart',
    required: fields.some(raw => raw['required'] === true),
    raw: schemaOfFields(fields),
    parts: new Map(fields.map(raw => [
      raw['name'] as string,
      { style: styleOf(raw, 'query'), contentType: undefined, isFile: raw['type'] === 'file' }
    ]))
  }
}

function schemaOfFields (fields: readonly Json[]): Json {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(raw => [
      raw['name'],
      { ...schemaOfSwagger(raw), ...(raw['description'] !== undefined && { description: raw['description'] }) }
    ])),
    required: fields.filter(raw => raw['required'] === true).map(raw => raw['name'])
  }
}

/** The types that are understood best come first. */
const PREFERRED = [
  /^application\/json\b/i, /[/+]json\b/i, /^application\/x-www-form-urlencoded\b/i, /^multipart\/form-data\b/i, /^\*\/\*/,
  /^text\/plain\b/i, /^application\/octet-stream\b/i
]

/** A media type, as it may be in a header. */
const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;[\x20-\x7e]*)?$/

function chooseType (types: readonly unknown[]): string | undefined {
  const known = types.filter((type): type is string => typeof type === 'string' && MEDIA_TYPE.test(type))
  for (const wanted of PREFERRED) {
    const found = known.find(type => wanted.test(type))
    if (found !== undefined) return found
  }
  return known[0]
}

function kindOf (mediaType: string, schema: unknown, references: References): BodyKind {
  const resolved = references.follow(schema)
  if (/[/+]json\b/i.test(mediaType)) return 'json'
  if (/^application\/x-www-form-urlencoded\b/i.test(mediaType)) return 'form'
  if (/^multipart\//i.test(mediaType)) return 'multipart'
  if (mediaType.startsWith('*')) return resolved !== undefined && isBinary(resolved) ? 'bytes' : 'json'
  if (/^text\/|xml|yaml|graphql|javascript/i.test(mediaType)) return 'text'
  return 'bytes'
}

/** The type that is sent: a range such as `image/*` is none. */
function sentType (mediaType: string, kind: BodyKind): string {
  if (!mediaType.includes('*')) return mediaType
  return kind === 'json' ? 'application/json' : kind === 'text' ? 'text/plain' : 'application/octet-stream'
}

/** The most members of a form for which is looked up how they are written. */
const MAX_PARTS = 256

function partsOf (schema: unknown, encodings: unknown, references: References): Map<string, Part> {
  const { properties } = references.follow(schema) ?? {}
  const parts = new Map<string, Part>()
  if (!isObject(properties)) return parts
  for (const [name, raw] of Object.entries(properties).slice(0, MAX_PARTS)) {
    const member = references.follow(raw) ?? {}
    const item = references.follow(member['items'])
    const own = isObject(encodings) && Object.hasOwn(encodings, name) ? encodings[name] : undefined
    const encoding = references.follow(own)
    const { contentType } = encoding ?? {}
    const hasStyle = ['style', 'explode', 'allowReserved'].some(key => encoding?.[key] !== undefined)
    parts.set(name, {
      style: encoding !== undefined && hasStyle ? styleOf({ ...encoding, schema: {} }, 'query') : undefined,
      contentType: typeof contentType === 'string'
        ? chooseType(contentType.split(',').map(type => type.trim()))
        : undefined,
      isFile: isBinary(member) || (item !== undefined && isBinary(item))
    })
  }
  return parts
}

/** The members of an object, and which of them are required. */
export interface Members {
  readonly properties: Map<string, unknown>
  readonly required: Set<string>
}

/** The most members that become arguments of their own, and the most schemas that they are gathered from. */
const MAX_MEMBERS = 200
const MAX_SCHEMAS = 32
/** Keywords with which an object is more than its members. */
const COMPOUND = ['anyOf', 'oneOf', 'not', 'if', 'patternProperties', 'additionalProperties', 'propertyNames']

/** The members of a body that is a plain object; undefined where it is something else. */
export function membersOf (raw: unknown, references: References): Members | undefined {
  const members: Members = { properties: new Map(), required: new Set() }
  const waiting: unknown[] = [raw]
  for (let seen = 0; waiting.length > 0; seen++) {
    const schema = references.follow(waiting.pop())
    if (schema === undefined || seen === MAX_SCHEMAS || !gather(schema, members)) return undefined
    waiting.push(...listOf(schema['allOf']).slice(0, MAX_SCHEMAS + 1))
  }
  return members.properties.size === 0 ? undefined : members
}

function gather (schema: Json, { properties, required }: Members): boolean {
  const { type, properties: own, required: names, nullable } = schema
  if ((type !== undefined && type !== 'object') || nullable === true) return false
  if (COMPOUND.some(keyword => schema[keyword] !== undefined && schema[keyword] !== false)) return false
  const named = isObject(own) ? Object.entries(own) : []
  if (named.length + properties.size > MAX_MEMBERS) return false
  for (const [name, member] of named) {
    if (name !== '__proto__' && !isReadOnly(member)) properties.set(name, member)
  }
  for (const name of listOf(names).slice(0, MAX_MEMBERS)) if (typeof name === 'string') required.add(name)
  return true
}

const isReadOnly = (member: unknown): boolean => isObject(member) && member['readOnly'] === true
