import { isObject, type Json } from '../../client/contract.js'
import { listOf, targetOf, type Schema } from './schema.js'
import { below, type Pointer } from './value.js'

/** True for a field whose value is hidden on the screen and left out of copies. */
export const isSecret = (schema: Schema): boolean => schema.format === 'password' || schema.writeOnly === true

/** When more schemas than this have a say in a value, what is left of it counts as secret. */
const MAX_VISITS = 20_000
/**
 * When patterns are held against names more often than this, what is left counts as secret, too. Long patterns count as
 * several.
 */
const MAX_TESTS = 50_000
const LONG = 1_000
/** Marks of a pattern that can be slow. One without them takes the time of the text. */
const REPEATS = /[*+?{(\\]/

interface Search { root: Json, left: number, tests: number, found: Pointer[] }

/**
 * Where a value has secrets by its schema: under any reference, variant or condition, whether or not that one is meant.
 */
export function secretsIn (value: Json, schema: Json | undefined, at: Pointer = ''): Pointer[] {
  const search: Search = { root: schema ?? true, left: MAX_VISITS, tests: MAX_TESTS, found: [] }
  look(value, [schema], at, search)
  return search.found
}

function look (value: Json, given: Array<Json | undefined>, at: Pointer, search: Search): void {
  const schemas = inPlace(given, search)
  if (search.left <= 0 || schemas.some(isSecret)) {
    search.found.push(at)
  } else if (Array.isArray(value)) {
    value.forEach((item, index) =>
      look(
        item,
        schemas.flatMap(schema => itemSchemas(schema, index)),
        below(at, index),
        search
      )
    )
  } else if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      look(
        member,
        search.left <= 0 ? [] : schemas.flatMap(schema => memberSchemas(schema, name, search)),
        below(at, name),
        search
      )
    }
  }
}

/** The schemas, and all those that they apply to the same value; each once, so that circles end. */
function inPlace (given: Array<Json | undefined>, search: Search): Schema[] {
  const all = new Set<Schema>()
  const waiting = [...given]
  while (waiting.length > 0 && search.left > 0) {
    const schema = waiting.pop()
    if (!isObject(schema) || all.has(schema)) continue
    search.left--
    all.add(schema)
    const { $ref, allOf, anyOf, oneOf, if: condition, then, else: otherwise, dependentSchemas, dependencies } = schema
    for (const part of [allOf, anyOf, oneOf]) waiting.push(...listOf(part))
    for (const part of [dependentSchemas, dependencies]) waiting.push(...Object.values(isObject(part) ? part : {}))
    waiting.push(condition, then, otherwise)
    if (typeof $ref === 'string') waiting.push(targetOf($ref, search.root))
  }
  return [...all]
}

function itemSchemas (
  { prefixItems, items, additionalItems, unevaluatedItems, contains }: Schema,
  index: number
): Array<Json | undefined> {
  const tuple = Array.isArray(prefixItems) ? prefixItems : listOf(items)
  if (index < tuple.length) return [tuple[index], contains]
  return [Array.isArray(items) ? additionalItems : items, unevaluatedItems, contains]
}

function memberSchemas (
  { properties, patternProperties, additionalProperties, unevaluatedProperties }: Schema,
  name: string,
  search: Search
): Array<Json | undefined> {
  const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
  const tested = Object.entries(isObject(patternProperties) ? patternProperties : {}).map(([pattern, schema]) => ({
    schema,
    match: matches(pattern, name, search)
  }))
  const matching = tested.filter(({ match }) => match !== false).map(({ schema }) => schema)
  const isNamed = own.length > 0 || tested.some(({ match }) => match === true)
  return isNamed ? [...own, ...matching] : [...matching, additionalProperties, unevaluatedProperties]
}

/** `maybe` where the pattern is not tested. */
function matches (pattern: string, name: string, search: Search): boolean | 'maybe' {
  search.tests -= 1 + Math.floor((pattern.length + name.length) / LONG)
  if (search.tests <= 0) search.left = 0
  if (search.left <= 0 || REPEATS.test(pattern)) return 'maybe'
  try { return new RegExp(pattern, 'u').test(name) } catch { return 'maybe' }
}
