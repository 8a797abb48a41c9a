import { isObject } from '../../../protocol/wire/json.js'
import { below, type Changes } from './changes.js'

/** A version of JSON Schema. A schema that does not say its version is of the newest, and is forgiven older words. */
export type Dialect = 4 | 6 | 7 | 2019 | 2020

export type Members = Record<string, unknown>

const NEWEST: Dialect = 2020
const DECLARED: ReadonlyArray<readonly [pattern: RegExp, dialect: Dialect]> = [
  [/draft-0?[34]\/(hyper-)?schema$/, 4], [/draft-0?[56]\/(hyper-)?schema$/, 6], [/draft-0?7\/(hyper-)?schema$/, 7],
  [/draft\/2019-09\/schema$/, 2019], [/draft\/2020-12\/schema$/, 2020]
]

/** The keywords that dialects before this one do not know. */
const SINCE: Readonly<Record<string, Dialect>> = {
  __proto__: null as never,
  const: 6,
  contains: 6,
  propertyNames: 6,
  if: 7,
  then: 7,
  else: 7,
  minContains: 2019,
  maxContains: 2019,
  dependentRequired: 2019,
  dependentSchemas: 2019,
  unevaluatedItems: 2019,
  unevaluatedProperties: 2019,
  $anchor: 2019,
  $recursiveRef: 2019,
  prefixItems: 2020,
  $dynamicRef: 2020,
  $dynamicAnchor: 2020
}

/** Keywords that stay beside a `$ref` which makes others void: they constrain nothing. */
const VOID_PROOF = new Set([
  '$ref', '$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
  'definitions', '$defs'
])

/** Identifiers: references are rewritten without them, because clients keep schemas of all servers by them. */
const IDENTIFIERS = ['id', '$id', '$anchor', '$dynamicAnchor', '$recursiveAnchor'] as const

/** The dialect that a schema declares. */
export function dialectOf ({ $schema }: Members): Dialect {
  if (typeof $schema !== 'string') return NEWEST
  const uri = $schema.replace(/#$/, '')
  return DECLARED.find(([pattern]) => pattern.test(uri))?.[1] ?? NEWEST
}

/** True when `$schema` says that it is the newest. */
export const isNewest = ($schema: unknown): boolean =>
  typeof $schema === 'string' && /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test($schema)

/** The name under which others refer to a schema: `id` at first, `$id` later. */
export function identifierOf (schema: Members, dialect: Dialect): string | undefined {
  const id = dialect === 4 ? schema.id : schema.$id
  return typeof id === 'string' && !(dialect <= 7 && typeof schema.$ref === 'string') ? id : undefined
}

/** The longest name of a schema, in characters: one in use is read with each reference. */
const MAX_URI = 500

/** The name that a URI means in a schema with the given base. */
export function resolve (base: string, uri: string): string | undefined {
  if (uri.length > MAX_URI || !URL.canParse(uri, base)) return undefined
  const { href } = new URL(uri, base)
  return href.length <= MAX_URI ? href : undefined
}

/** The keywords that `modernize` looks at; most schemas have none of them. */
const LOOKED_AT = new Set([
  ...Object.keys(SINCE), ...IDENTIFIERS, '$ref', '$schema', 'exclusiveMinimum', 'exclusiveMaximum', 'items',
  'additionalItems', 'nullable', 'definitions', 'dependencies'
])

function hasOldWords (schema: Members): boolean {
  for (const key in schema) if (LOOKED_AT.has(key)) return true
  return false
}

/**
 * One schema in the words of the newest dialect; the same object where nothing has to be looked at. Schemas inside it
 * are as they were.
 */
export function modernize (given: Members, dialect: Dialect, at: string, isRoot: boolean, changes: Changes): Members {
  if (!hasOldWords(given)) return given
  const schema = keepKnown(given, dialect, at, changes)
  dropIdentity(schema, at, isRoot, changes)
  renameReferences(schema, at, changes)
  modernizeLimits(schema, dialect, at, changes)
  modernizeItems(schema, at, changes)
  modernizeNullable(schema, at, changes)
  if (dialect <= 7) {
    if (isObject(schema.definitions) && schema.$defs === undefined) rename(schema, 'definitions', '$defs', at, changes)
    if (isObject(schema.dependencies)) splitDependencies(schema, schema.dependencies, at, changes)
  }
  return schema
}

/** Keeps the members that have a meaning in the dialect. */
function keepKnown (given: Members, dialect: Dialect, at: string, changes: Changes): Members {
  const isVoid = dialect <= 7 && typeof given.$ref === 'string'
  const schema: Members = {}
  for (const key in given) {
    const isKnown = (SINCE[key] ?? 0) <= dialect
    if (isKnown && !(isVoid && !VOID_PROOF.has(key) && !key.startsWith('x-'))) schema[key] = given[key]
    else if (isKnown) changes.note(below(at, key), 'dropped, because it has no meaning beside $ref in its dialect')
    // Many validators obey it all the same.
    else changes.loosen(below(at, key), 'dropped, because it has no meaning in its dialect')
  }
  return schema
}

function dropIdentity (schema: Members, at: string, isRoot: boolean, changes: Changes): void {
  for (const key of IDENTIFIERS) {
    if (schema[key] === undefined) continue
    delete schema[key]
    changes.note(below(at, key), 'dropped')
  }
  if (schema.$schema === undefined || (isRoot && isNewest(schema.$schema))) return
  delete schema.$schema
  changes.note(below(at, '$schema'), 'dropped')
}

function renameReferences (schema: Members, at: string, changes: Changes): void {
  for (const key of ['$recursiveRef', '$dynamicRef']) {
    if (schema[key] === undefined) continue
    if (schema.$ref === undefined) rename(schema, key, '$ref', at, changes)
    else drop(schema, key, at, changes)
  }
}

/** `exclusiveMinimum: true` is the first form: it is about `minimum`. */
function modernizeLimits (schema: Members, dialect: Dialect, at: string, changes: Changes): void {
  for (const [exclusive, inclusive] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']] as const) {
    const value = schema[exclusive]
    if (typeof value === 'boolean') {
      delete schema[exclusive]
      if (value && typeof schema[inclusive] === 'number') rename(schema, inclusive, exclusive, at, changes)
      else changes.note(below(at, exclusive), 'dropped')
    } else if (dialect === 4 && value !== undefined) drop(schema, exclusive, at, changes)
  }
}

function modernizeItems (schema: Members, at: string, changes: Changes): void {
  const { items, additionalItems } = schema
  if (Array.isArray(items)) {
    delete schema.items
    delete schema.additionalItems
    if (schema.prefixItems !== undefined) changes.loosen(below(at, 'items'), 'dropped')
    else {
      changes.note(below(at, 'items'), 'written as prefixItems')
      if (items.length > 0) schema.prefixItems = items
      // Validators of older dialects would apply `items` to every element.
      const isLimit = additionalItems !== undefined && additionalItems !== true
      if (isLimit) changes.loosen(below(at, 'additionalItems'), 'dropped')
    }
  } else if (additionalItems !== undefined) {
    delete schema.additionalItems
    changes.note(below(at, 'additionalItems'), 'dropped, because it has no meaning here')
  }
}

/** `nullable` is of OpenAPI. */
function modernizeNullable (schema: Members, at: string, changes: Changes): void {
  const { nullable, type } = schema
  if (nullable === undefined) return
  delete schema.nullable
  if (nullable === true && typeof type === 'string' && type !== 'null') {
    schema.type = [type, 'null']
    changes.loosen(below(at, 'nullable'), 'written as type null')
  } else changes.note(below(at, 'nullable'), 'dropped')
}

function splitDependencies (schema: Members, dependencies: Members, at: string, changes: Changes): void {
  const lists: Members = {}
  const schemas: Members = {}
  for (const key in dependencies) {
    const value = dependencies[key]
    if (Array.isArray(value)) lists[key] = value
    else schemas[key] = value
  }
  delete schema.dependencies
  if (Object.keys(lists).length > 0) schema.dependentRequired = lists
  if (Object.keys(schemas).length > 0) schema.dependentSchemas = schemas
  changes.note(below(at, 'dependencies'), 'written as dependentRequired and dependentSchemas')
}

function rename (schema: Members, from: string, to: string, at: string, changes: Changes): void {
  schema[to] = schema[from]
  delete schema[from]
  changes.note(below(at, from), `written as ${to}`)
}

function drop (schema: Members, key: string, at: string, changes: Changes): void {
  delete schema[key]
  changes.loosen(below(at, key), 'dropped')
}
