import { isObject } from '../../../protocol/wire/json.js'
import { setMember, type Json } from '../document/references.js'
import { MANY, NAMED, ONE } from './keywords.js'
import type { Converted, Schemas } from './schemas.js'

/** Characters of JSON of a part that is cut off, with its name. */
const STUB = 150
const CUT = 'Cut off here, because the whole would be too long; see the documentation of the API'
/** A schema of more than so many times the most characters is not cut, and has no place. */
export const MAX_CUT = 16
/** The depths to which a schema is cut that is too long by itself. */
const DEPTHS = [10, 6, 4, 3, 2]

/**
 * The schema with everything that it refers to in `$defs`, in at most `max` characters of JSON: what is farthest from
 * its root is cut off. Undefined where not even its root fits.
 */
export function fit (root: Converted, schemas: Schemas, max: number): { schema: Json, isCut: boolean } | undefined {
  const whole = withDefinitions(root, schemas, max)
  if (whole !== undefined) return whole
  if (root.length > MAX_CUT * max) return undefined
  for (const depth of DEPTHS) {
    const schema = cut(root.schema, depth) as Json
    const length = JSON.stringify(schema).length
    if (length > max) continue
    const used = referencesIn(schema)
    const pointers = new Set([...root.pointers].filter(pointer => used.has(`#/$defs/${schemas.nameOf(pointer)}`)))
    const fitted = withDefinitions({ schema, length, pointers }, schemas, max)
    if (fitted !== undefined) return { ...fitted, isCut: true }
  }
  return undefined
}

/** All references in a schema that was converted. */
function referencesIn (value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (typeof value !== 'object' || value === null) return found
  if ('$ref' in value) found.add(value.$ref)
  for (const inner of Object.values(value)) referencesIn(inner, found)
  return found
}

/** Adds what is referred to, the nearest first. Undefined where there is no room for what would be cut off. */
function withDefinitions (
  { schema, length, pointers }: Converted,
  schemas: Schemas,
  max: number
): { schema: Json, isCut: boolean } | undefined {
  const seen = new Set(pointers)
  let used = length + seen.size * STUB
  if (used > max) return undefined
  if (seen.size === 0) return { schema, isCut: false }
  const definitions: Record<string, unknown> = {}
  let isCut = false
  // A set may grow while it is read.
  for (const pointer of seen) {
    const part = schemas.at(pointer)
    const added = used + part.length > max ? [] : [...part.pointers].filter(inner => !seen.has(inner))
    const size = part.length + added.length * STUB
    if (used + size > max) {
      isCut = true
      definitions[schemas.nameOf(pointer)] = stubOf(part.schema)
      continue
    }
    used += size
    for (const inner of added) seen.add(inner)
    definitions[schemas.nameOf(pointer)] = part.schema
  }
  return { schema: { ...schema, $defs: definitions }, isCut }
}

function stubOf ({ type }: Json): Json {
  return typeof type === 'string' ? { type, description: CUT } : { description: CUT }
}

/** The schema with nothing that is nested deeper. */
function cut (schema: unknown, depth: number): unknown {
  if (!isObject(schema) || Object.keys(schema).length === 0) return schema
  if (depth === 0) return typeof schema['$ref'] === 'string' ? {} : stubOf(schema)
  const out: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (ONE.has(keyword)) out[keyword] = cut(value, depth - 1)
    else if (MANY.has(keyword) && Array.isArray(value)) out[keyword] = value.map(each => cut(each, depth - 1))
    else if (NAMED.has(keyword) && isObject(value)) out[keyword] = cutEach(value, depth - 1)
    else if (keyword !== 'description' || depth > 2) out[keyword] = value
  }
  return out
}

function cutEach (schemas: Json, depth: number): Json {
  const out: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(schemas)) setMember(out, name, cut(schema, depth))
  return out
}
