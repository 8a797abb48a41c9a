import { Validator, type OutputUnit, type Schema as AnySchema, type SchemaDraft } from '@cfworker/json-schema'
import { isObject, type Json } from '../client/contract.js'
import { errorWords } from './model/error-words.js'
import { MAX_TESTED, safePattern } from './model/patterns.js'
import { listOf, memberAt, resolve, textOf } from './model/schema.js'
import { fromJson, below, type Pointer } from './model/value.js'
import { pickVariant } from './model/variants.js'

/** What is wrong with a value, in words, and where. */
export interface FieldError { at: Pointer, message: string }

/** More errors than this are of no help. */
const MAX_ERRORS = 50

/** How many schemas a check may look at, and how many more for each part of the value and of the schema. A few references, each used twice by the one before, stand for billions. */
const MAX_VISITS = 20_000
const VISITS_PER_PART = 20
const VISITS_PER_SCHEMA = 4

interface Options {
  /** Whether patterns run. A server that chooses both the pattern and the text could stop the page, so they do only on what a person typed. */
  patterns: boolean
  /** Stops at the first error. */
  first?: boolean
}

/** What is wrong with a value by its schema; undefined when it was not checked: the schema cannot be followed, for example because it refers to another address, or that takes too long. */
export function schemaErrors (value: Json, schema: Json, { patterns, first = false }: Options): FieldError[] | undefined {
  try {
    const { longest, parts } = sizeOf(value)
    const visits = { left: MAX_VISITS + VISITS_PER_PART * parts }
    const ready = prepared(schema, { pattern: text => patterns && safePattern(text, longest), format: longest <= MAX_TESTED, visits })
    const { errors } = new Validator(ready as AnySchema, draftOf(schema), first).validate(value)
    return inWords(errors, schema, value)
  } catch {
    return undefined
  }
}

function draftOf (schema: Json): SchemaDraft {
  const dialect = isObject(schema) ? textOf(schema.$schema) ?? '' : ''
  if (dialect.includes('draft-04')) return '4'
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return '7'
  return dialect.includes('2019-09') ? '2019-09' : '2020-12'
}

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
const DATA = new Set(['const', 'enum', 'dependentRequired'])
/** Says nothing about a value, yet a reference could lead into it. */
const UNUSED = new Set(['default', 'examples'])

/** What may run on the texts of a value, and how many schemas may still be looked at. */
interface Allowed { pattern: (pattern: Json) => boolean, format: boolean, visits: { left: number } }

/** A copy for the validator, which marks the schemas it reads, without what may not run, and with an end to what may. */
function prepared (schema: Json, allowed: Allowed): Json {
  if (Array.isArray(schema)) return schema.map(part => prepared(part, allowed))
  if (!isObject(schema)) return schema
  const copy: { [keyword: string]: Json } = {}
  for (const [keyword, part] of Object.entries(schema)) {
    if (UNUSED.has(keyword) || (keyword === 'pattern' && !allowed.pattern(part)) || (keyword === 'format' && !allowed.format)) continue
    if (MAPS.has(keyword) && isObject(part)) copy[keyword] = preparedMap(part, keyword === 'patternProperties', allowed)
    else copy[keyword] = DATA.has(keyword) ? part : prepared(part, allowed)
  }
  return counted(copy, allowed.visits)
}

/** Counts how often the validator comes to a schema: each time it reads `$ref`. */
function counted (schema: { [keyword: string]: Json }, visits: Allowed['visits']): Json {
  const { $ref } = schema
  visits.left += VISITS_PER_SCHEMA
  return Object.defineProperty(schema, '$ref', {
    enumerable: $ref !== undefined,
    get () {
      if (visits.left-- <= 0) throw new Error('The schema has too many parts.')
      return $ref
    }
  })
}

function preparedMap (schemas: { [name: string]: Json }, named: boolean, allowed: Allowed): Json {
  const copy: { [name: string]: Json } = Object.create(null)
  for (const [name, part] of Object.entries(schemas)) {
    if (!named || allowed.pattern(name)) copy[name] = prepared(part, allowed)
  }
  return copy
}

/** The length of the longest text in a value, names included, and how many values are in it. */
function sizeOf (value: Json): { longest: number, parts: number } {
  if (typeof value !== 'object' || value === null) return { longest: typeof value === 'string' ? value.length : 0, parts: 1 }
  let [longest, parts] = [0, 1]
  for (const [name, member] of Object.entries(value)) {
    const size = sizeOf(member)
    longest = Math.max(longest, name.length, size.longest)
    parts += size.parts
  }
  return { longest, parts }
}

function inWords (units: OutputUnit[], schema: Json, value: Json): FieldError[] {
  const errors = new Map<string, FieldError>()
  for (const unit of withoutOtherVariants(units, schema, value)) {
    const message = errorWords(unit, limitAt(schema, unit.keywordLocation))
    if (message === undefined) continue
    const at = placeOf(unit)
    errors.set(`${at} ${message}`, { at, message })
    if (errors.size === MAX_ERRORS) break
  }
  // All that is known is that something does not fit.
  if (units.length > 0 && errors.size === 0) return [{ at: '', message: 'This does not fit the schema.' }]
  return [...errors.values()]
}

function placeOf ({ keyword, instanceLocation, error }: OutputUnit): Pointer {
  const at = decoded(instanceLocation.slice(1))
  const missing = keyword === 'required' || keyword === 'dependentRequired' ? /"(.*)"\.$/s.exec(error)?.[1] : undefined
  return missing === undefined ? at : below(at, missing.replace(/^.*" but does not have "/s, ''))
}

/** Of `oneOf` and `anyOf` only what is wrong with the variant that the value looks like. */
function withoutOtherVariants (units: OutputUnit[], schema: Json, value: Json): OutputUnit[] {
  const unwanted = new Set<string>()
  for (const { keyword, keywordLocation, instanceLocation } of units) {
    if (keyword === 'contains') unwanted.add(`${keywordLocation}/`)
    if (keyword !== 'oneOf' && keyword !== 'anyOf') continue
    const variants = listOf(limitAt(schema, keywordLocation))
    const part = memberAt(value, instanceLocation.slice(1))
    const best = pickVariant(variants, part === undefined ? undefined : fromJson(part), schema)
    variants.forEach((_, index) => { if (index !== best) unwanted.add(`${keywordLocation}/${index}/`) })
  }
  return units.filter(({ keywordLocation }) => !startsWithAny(keywordLocation, unwanted))
}

/** `prefixes` end in a slash. */
function startsWithAny (location: string, prefixes: Set<string>): boolean {
  for (let at = location.indexOf('/'); at !== -1; at = location.indexOf('/', at + 1)) {
    if (prefixes.has(location.slice(0, at + 1))) return true
  }
  return false
}

/** What a keyword says; its location goes through references. */
function limitAt (schema: Json, location: string): Json | undefined {
  let place: Json | undefined = schema
  for (const name of location.split('/').slice(1)) {
    if (name === '$ref' && isObject(place)) place = resolve({ $ref: place.$ref ?? '' }, schema)
    else place = memberAt(place, `/${name}`)
  }
  return place
}

function decoded (pointer: string): Pointer {
  try { return decodeURIComponent(pointer) } catch { return pointer }
}
