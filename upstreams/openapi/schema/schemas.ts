import { createHash } from 'node:crypto'
import { isObject } from '../../../protocol/wire/json.js'
import { partsOf, setMember, type Json, type References } from '../document/references.js'
import { MANY, NAMED, ONE, PLAIN, typesOf } from './keywords.js'

/** A schema in the newest dialect, its length as JSON, and the parts of the document that it refers to. */
export interface Converted {
  readonly schema: Json
  readonly length: number
  readonly pointers: ReadonlySet<string>
}

/** The side that schemas are for: members with the keyword `absent` are not there. */
export interface Side { readonly absent: 'readOnly' | 'writeOnly', readonly hasPatterns: boolean }
const ARGUMENTS: Side = { absent: 'readOnly', hasPatterns: true }
export const ANSWERS: Side = { absent: 'writeOnly', hasPatterns: false }

/** How deeply a schema may be nested; what lies deeper may be anything. */
const MAX_DEPTH = 40
const OUTSIDE = 'A reference to another document, which is not followed'
const USUAL = /^#\/(?:components\/schemas|definitions)\/[^/]+$/

/** The schemas of a document, each converted once. References stay, as `#/$defs/NAME`, and cycles with them. */
export class Schemas {
  readonly #references: References
  /** True before JSON Schema and OpenAPI became one dialect: Swagger 2.0 and OpenAPI 3.0. */
  readonly #isOld: boolean
  readonly #side: Side
  readonly #converted = new WeakMap<object, Converted>()
  readonly #names = new Map<string, string>()
  readonly #pointers = new Map<string, string>()
  /** The references that lead nowhere, or out of the document. */
  readonly lost = new Set<string>()

  constructor (references: References, isOld: boolean, side: Side = ARGUMENTS) {
    this.#references = references
    this.#isOld = isOld
    this.#side = side
  }

  convert (raw: unknown): Converted {
    if (!isObject(raw)) return ANYTHING
    const known = this.#converted.get(raw)
    if (known !== undefined) return known
    const pointers = new Set<string>()
    const schema = this.#convert(raw, 0, pointers)
    const converted = { schema, length: JSON.stringify(schema).length, pointers }
    this.#converted.set(raw, converted)
    return converted
  }

  /** The part of the document that a reference of a converted schema leads to. */
  at (pointer: string): Converted {
    return this.convert(this.#references.find(pointer))
  }

  nameOf (pointer: string): string {
    const known = this.#names.get(pointer)
    if (known !== undefined) return known
    const clean = (partsOf(pointer).at(-1) ?? '').replace(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 64)
    const isFree = USUAL.test(pointer) && clean !== '' && !this.#pointers.has(clean) && clean !== '__proto__'
    const name = isFree ? clean : `${clean}_${createHash('sha256').update(pointer).digest('hex').slice(0, 8)}`
    this.#names.set(pointer, name)
    this.#pointers.set(name, pointer)
    return name
  }

  /** The schema itself, or the one that its reference leads to. */
  follow (schema: Json): Json {
    for (let links = 0; typeof schema['$ref'] === 'string' && links < MAX_DEPTH; links++) {
      const pointer = this.#pointers.get(schema['$ref'].slice('#/$defs/'.length))
      if (pointer === undefined) return {}
      schema = this.at(pointer).schema
    }
    return schema
  }

  #convert (raw: unknown, depth: number, pointers: Set<string>): Json {
    if (raw === false) return { not: {} }
    if (!isObject(raw) || depth > MAX_DEPTH) return {}
    if (typeof raw['$ref'] === 'string') return this.#link(raw['$ref'], raw, pointers)
    const out: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(raw)) this.#take(keyword, value, out, depth, pointers)
    const types = typesOf(raw['type'])
    if (types !== undefined) out['type'] = types
    if (isBinary(raw)) describeBytes(out)
    if (this.#isOld) writeOldKeywords(raw, out)
    if (isObject(raw['properties'])) leaveOut(this.#side.absent, raw['properties'], out)
    // A pattern of a document would be tried on whatever an API sends.
    if (!this.#side.hasPatterns) leaveOutPatterns(out)
    return out
  }

  #take (keyword: string, value: unknown, out: Record<string, unknown>, depth: number, pointers: Set<string>): void {
    const inner = (each: unknown): Json => this.#convert(each, depth + 1, pointers)
    if (keyword === 'items' && Array.isArray(value)) {
      out['prefixItems'] = value.map(inner)
    } else if (ONE.has(keyword)) {
      if (isObject(value) || typeof value === 'boolean') out[keyword] = typeof value === 'boolean' ? value : inner(value)
    } else if (MANY.has(keyword)) {
      if (Array.isArray(value) && value.length > 0) out[keyword] = value.map(inner)
    } else if (NAMED.has(keyword)) {
      if (isObject(value)) out[keyword] = namedBy(value, inner)
    } else {
      const read = PLAIN[keyword]?.(value)
      if (read !== undefined) out[keyword] = read
    }
  }

  #link (reference: string, raw: Json, pointers: Set<string>): Json {
    const target = this.#references.find(reference)
    if (target === true) return {}
    if (!isObject(target)) {
      this.lost.add(reference)
      return { description: OUTSIDE }
    }
    pointers.add(reference)
    const description = PLAIN['description']?.(raw['description'])
    return { $ref: `#/$defs/${this.nameOf(reference)}`, ...(description !== undefined && { description }) }
  }
}

const ANYTHING: Converted = { schema: {}, length: 2, pointers: new Set() }

function namedBy (schemas: Json, convert: (schema: unknown) => Json): Json {
  const out: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(schemas)) if (name !== '__proto__') setMember(out, name, convert(schema))
  return out
}

/** True for text whose bytes are no text, such as a file. */
export function isBinary (raw: Json): boolean {
  const { type, format, contentMediaType, contentEncoding } = raw
  if (type === 'file' || (type === 'string' && format === 'binary')) return true
  return typeof contentMediaType === 'string' && contentEncoding === undefined && type !== 'object' &&
    !/^text\/|json|xml/i.test(contentMediaType)
}

function describeBytes (out: Record<string, unknown>): void {
  out['type'] = 'string'
  out['contentEncoding'] = 'base64'
  delete out['format']
  const { description } = out
  out['description'] = typeof description === 'string' ? `${description} (in base64)` : 'The bytes, in base64'
}

/** Writes `nullable` and exclusive bounds that are true or false as the newest dialect has them. */
function writeOldKeywords (raw: Json, out: Record<string, unknown>): void {
  for (const [exclusive, bound] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']] as const) {
    if (raw[exclusive] !== true || out[bound] === undefined) continue
    out[exclusive] = out[bound]
    delete out[bound]
  }
  if (raw['nullable'] !== true && raw['x-nullable'] !== true) return
  const { type, enum: values } = out
  if (type === undefined) {
    for (const union of ['anyOf', 'oneOf']) if (Array.isArray(out[union])) out[union] = [...out[union], { type: 'null' }]
    return
  }
  out['type'] = [...new Set([...(Array.isArray(type) ? type : [type]), 'null'])]
  if (Array.isArray(values) && !values.includes(null)) out['enum'] = [...values, null]
}

/** Members that only answers have are no arguments, and the other way round. */
function leaveOut (keyword: Side['absent'], raw: Json, out: Record<string, unknown>): void {
  const properties = out['properties'] as Record<string, unknown>
  const gone = Object.keys(raw).filter(name => isObject(raw[name]) && raw[name][keyword] === true)
  for (const name of gone) delete properties[name]
  const { required } = out
  if (gone.length > 0 && Array.isArray(required)) out['required'] = required.filter(name => !gone.includes(name))
}

function leaveOutPatterns (out: Record<string, unknown>): void {
  delete out['pattern']
  if (out['patternProperties'] === undefined) return
  for (const keyword of ['patternProperties', 'additionalProperties', 'unevaluatedProperties']) delete out[keyword]
}
