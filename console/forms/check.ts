import { Validator, type OutputUnit, type Schema as AnySchema, type SchemaDraft } from '@cfworker/json-schema'
import { isObject, type Json } from '../client/contract.js'
import { Budget } from './budget.js'
import { certainErrors } from './certain-errors.js'
import { errorWords } from './model/error-words.js'
import { MAX_TESTED, safePattern, safeTogether } from './model/patterns.js'
import { listOf, memberAt, newWork, resolve, textOf, type Work } from './model/schema.js'
import { fromJson, below, type Pointer } from './model/value.js'
import { pickVariant } from './model/variants.js'
import { prepared, type Allowed } from './prepared.js'

/** A mistake in a value, in words, and its place. */
export interface FieldError { at: Pointer, message: string }

/** More errors than this are of no help. */
const MAX_ERRORS = 50

/** How many schemas a check may look at, and how many more for each part of the value. A few references, each used twice by the one before, stand for billions. */
const MAX_VISITS = 20_000
const VISITS_PER_PART = 20
/** In milliseconds. A check runs at each letter that is typed, and the page stands still meanwhile. */
const CHECK_MS = 1_000
/** More pairs of items than this are not compared: the validator cannot be stopped before it has compared all. */
const MAX_PAIRS = 1_000_000
/** Errors deeper than this, by the letters of their location, are not put in words. */
const MAX_LOCATION = 20_000

interface Options {
  /** True when patterns run: those with few ways to match, for a server may have chosen the text as well, as the default of a field. */
  patterns: boolean
  /** Stops at the first error. */
  first?: boolean
  /** How long it may take; a second unless told. */
  ms?: number
  clock?: () => number
}

/** Finds the mistakes in a value by its schema; undefined when it was not checked: the schema cannot be followed, for example because it refers to another address, or that takes too long. */
export function schemaErrors (value: Json, schema: Json, { patterns, first = false, ms = CHECK_MS, clock = () => performance.now() }: Options): FieldError[] | undefined {
  try {
    const size = sizeOf(value)
    const budget = new Budget(MAX_VISITS + VISITS_PER_PART * size.parts, ms, clock)
    let isWhole = true
    const ready = prepared(schema, { ...allowedFor(size, patterns), budget, onLeftOut: () => { isWhole = false } })
    const { errors } = new Validator(ready as AnySchema, draftOf(schema), first).validate(value)
    const certain = isWhole ? errors : certainErrors(errors)
    return certain.length === 0 && errors.length > 0 ? undefined : inWords(certain, ready, value, budget)
  } catch {
    return undefined
  }
}

function allowedFor ({ longest, widest, parts }: Size, patterns: boolean): Omit<Allowed, 'budget' | 'onLeftOut'> {
  return {
    pattern: pattern => patterns && safePattern(pattern, longest),
    patternProperties: pattern => safeTogether(pattern, widest, longest),
    format: longest <= MAX_TESTED,
    uniqueItems: widest * parts <= MAX_PAIRS
  }
}

function draftOf (schema: Json): SchemaDraft {
  const dialect = isObject(schema) ? textOf(schema.$schema) ?? '' : ''
  if (dialect.includes('draft-04')) return '4'
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return '7'
  return dialect.includes('2019-09') ? '2019-09' : '2020-12'
}

/** Of a value: the length of its longest text, names included, its most items or fields of one part, and how many parts there are. */
interface Size { longest: number, widest: number, parts: number }

function sizeOf (value: Json): Size {
  if (typeof value !== 'object' || value === null) return { longest: typeof value === 'string' ? value.length : 0, widest: 0, parts: 1 }
  const members = Object.entries(value)
  const whole = { longest: 0, widest: members.length, parts: 1 }
  for (const [name, member] of members) {
    const size = sizeOf(member)
    whole.longest = Math.max(whole.longest, name.length, size.longest)
    whole.widest = Math.max(whole.widest, size.widest)
    whole.parts += size.parts
  }
  return whole
}

function inWords (units: OutputUnit[], schema: Json, value: Json, budget: Budget): FieldError[] {
  if (units.some(({ keywordLocation }) => keywordLocation.length > MAX_LOCATION)) throw new Error('The errors are too deep.')
  const errors = new Map<string, FieldError>()
  const work = newWork()
  for (const unit of withoutOtherVariants(units, schema, value, work, budget)) {
    budget.spend(0)
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
function withoutOtherVariants (units: OutputUnit[], schema: Json, value: Json, work: Work, budget: Budget): OutputUnit[] {
  const unwanted = new Set<string>()
  for (const { keyword, keywordLocation, instanceLocation } of units) {
    if (keyword === 'contains') unwanted.add(`${keywordLocation}/`)
    if (keyword !== 'oneOf' && keyword !== 'anyOf') continue
    budget.spend(0)
    const variants = listOf(limitAt(schema, keywordLocation, work))
    const part = memberAt(value, instanceLocation.slice(1))
    const best = pickVariant(variants, part === undefined ? undefined : fromJson(part), schema)
    variants.forEach((_, index) => { if (index !== best) unwanted.add(`${keywordLocation}/${index}/`) })
  }
  return units.filter(({ keywordLocation }) => {
    budget.spend(0)
    return !startsWithAny(keywordLocation, unwanted)
  })
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
