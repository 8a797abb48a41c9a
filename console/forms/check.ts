import { Validator, type OutputUnit, type Schema as AnySchema, type SchemaDraft } from '@cfworker/json-schema'
import { isObject, type Json } from '../client/contract.js'
import { errorWords } from './model/error-words.js'
import { MAX_TESTED, safePattern } from './model/patterns.js'
import { listOf, memberAt, newWork, resolve, textOf, type Work } from './model/schema.js'
import { fromJson, below, type Pointer } from './model/value.js'
import { pickVariant } from './model/variants.js'
import { prepared } from './prepared.js'

/** What is wrong with a value, in words, and where. */
export interface FieldError { at: Pointer, message: string }

/** More errors than this are of no help. */
const MAX_ERRORS = 50

/** How many schemas a check may look at, and how many more for each part of the value. A few references, each used twice by the one before, stand for billions. */
const MAX_VISITS = 20_000
const VISITS_PER_PART = 20

interface Options {
  /** Whether patterns run: those with few ways to match, for a server may have chosen the text as well, as the default of a field. */
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
    return inWords(errors, ready, value)
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

function placeOf ({ keyword, instanceLocation, error }: OutputUnit): Pointer {
  const at = decoded(instanceLocation.slice(1))
  const missing = keyword === 'required' || keyword === 'dependentRequired' ? /"(.*)"\.$/s.exec(error)?.[1] : undefined
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

/** What a keyword says; its location goes through references. */
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
