import { format, Validator, type OutputUnit, type Schema as AnySchema, type SchemaDraft } from '@cfworker/json-schema'
import { isObject, type Json } from '../client/contract.js'
import { errorWords } from './model/error-words.js'
import { listOf, memberAt, newWork, resolve, textOf, type Work } from './model/schema.js'
import { fromJson, below, type Pointer } from './model/value.js'
import { pickVariant } from './model/variants.js'

/** A mistake in a value, in words, and its place. */
export interface FieldError { at: Pointer, message: string }

/** More errors than this are of no help. */
const MAX_ERRORS = 50

/** Errors deeper than this, by the letters of their location, are not put in words. */
const MAX_LOCATION = 20_000

// The validator's own expression for `url` takes twice as long with each letter; `uri` means nearly the same. A format
// is one of its own, no member of every object.
Object.setPrototypeOf(Object.assign(format, { url: format['uri'] }), null)

/**
 * Finds the mistakes in a value by its schema; undefined when the schema cannot be followed, for example because it
 * refers to another address. A schema can make this take years, so the page calls `checkInTime`. `first` stops at the
 * first error. Changes the schema.
 */
export function schemaErrors (value: Json, schema: Json, first = false): FieldError[] | undefined {
  try {
    dropInvalidPatterns(schema)
    const { errors } = new Validator(schema as AnySchema, draftOf(schema), first).validate(value)
    return inWords(errors, schema, value)
  } catch {
    return undefined
  }
}

/** The validator fails at a pattern that is none. Servers of other languages have such. */
function dropInvalidPatterns (schema: Json): void {
  const waiting = [schema]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (typeof part !== 'object' || part === null) continue
    if (isObject(part)) {
      if (!isPattern(part.pattern)) delete part.pattern
      if (isObject(part.patternProperties)) {
        for (const pattern of Object.keys(part.patternProperties)) {
          if (!isPattern(pattern)) delete part.patternProperties[pattern]
        }
      }
    }
    for (const [keyword, member] of Object.entries(part)) if (!DATA.has(keyword)) waiting.push(member)
  }
}

const DATA = new Set(['const', 'enum', 'default', 'examples'])

function isPattern (pattern: Json | undefined): boolean {
  try { return typeof pattern !== 'string' || Boolean(new RegExp(pattern, 'u')) } catch { return false }
}

function draftOf (schema: Json): SchemaDraft {
  const dialect = isObject(schema) ? textOf(schema.$schema) ?? '' : ''
  if (dialect.includes('draft-04')) return '4'
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return '7'
  return dialect.includes('2019-09') ? '2019-09' : '2020-12'
}

function inWords (units: OutputUnit[], schema: Json, value: Json): FieldError[] {
  if (units.some(({ keywordLocation }) => keywordLocation.length > MAX_LOCATION)) {
    throw new Error('The errors are too deep.')
  }
  const errors = new Map<string, FieldError>()
  const work = newWork()
  for (const unit of withoutOtherVariants(units, schema, value, work)) {
    const message = errorWords(unit, limitAt(schema, unit.keywordLocation, work))
    if (message === undefined) continue
    const at = placeOf(unit)
    errors.set(`${at} ${message}`, { at, message })
    if (errors.size === MAX_ERRORS) break
  }
  // All that is known is that something does not fit.
  if (units.length > 0 && errors.size === 0) return [{ at: '', message: 'This does not fit the schema.' }]
  return [...errors.values()]
}

const MISSING = new Set(['required', 'dependentRequired', 'dependencies'])

function placeOf ({ keyword, instanceLocation, error }: OutputUnit): Pointer {
  const at = decoded(instanceLocation.slice(1))
  const missing = MISSING.has(keyword) ? /"(.*)"\.$/s.exec(error)?.[1] : undefined
  return missing === undefined ? at : below(at, missing.replace(/^.*" but does not have "/s, ''))
}

/** Of `oneOf` and `anyOf` only what is wrong with the variant that the value looks like. */
function withoutOtherVariants (units: OutputUnit[], schema: Json, value: Json, work: Work): OutputUnit[] {
  const unwanted = new Set<string>()
  for (const { keyword, keywordLocation, instanceLocation } of units) {
    if (keyword === 'contains') unwanted.add(`${keywordLocation}/`)
    if (keyword !== 'oneOf' && keyword !== 'anyOf') continue
    const variants = listOf(limitAt(schema, keywordLocation, work))
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

/** The value of a keyword; its location goes through references. */
function limitAt (schema: Json, location: string, work: Work): Json | undefined {
  let place: Json | undefined = schema
  for (const name of location.split('/').slice(1)) {
    if (name === '$ref' && isObject(place)) place = resolve({ $ref: place.$ref ?? '' }, schema, work)
    else place = memberAt(place, `/${name}`)
  }
  return place
}

function decoded (pointer: string): Pointer {
  try { return decodeURIComponent(pointer) } catch { return pointer }
}
