import { format } from '@cfworker/json-schema'
import { isObject, type Json } from '../client/contract.js'
import type { Budget } from './budget.js'
import type { Schema } from './model/schema.js'

/** Decides which keywords run on a value, and on how much of it. The validator cannot be stopped inside of one schema. */
export interface Allowed {
  pattern: (pattern: Json) => boolean
  /** True when all of these may run on the names of the fields. */
  patternProperties: (patterns: string[]) => boolean
  format: boolean
  uniqueItems: boolean
  budget: Budget
  /** Called when something is left out that the schema asks for. */
  onLeftOut: () => void
}

/** How many more visits a check has for each schema. */
const VISITS_PER_SCHEMA = 4

const MAPS = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])
const DATA = new Set(['const', 'dependentRequired'])
/** Says nothing about a value, yet a reference could lead into it. */
const UNUSED = new Set(['default', 'examples'])

/** A copy for the validator, which marks the schemas it reads, without what may not run, and with an end to what may. */
export function prepared (given: Json, allowed: Allowed): Json {
  if (Array.isArray(given)) return given.map(part => prepared(part, allowed))
  if (!isObject(given)) return given
  const copy: Schema = {}
  const schema = withoutDependencies(given)
  for (const [keyword, part] of Object.entries(schema)) {
    if (UNUSED.has(keyword)) continue
    if (!mayRun(keyword, part, allowed)) allowed.onLeftOut()
    else if (keyword === 'format') Object.assign(copy, preparedFormat(part))
    else if (keyword === 'enum') copy.enum = preparedEnum(part)
    else if (keyword === 'patternProperties' && isObject(part)) copy.patternProperties = preparedMap(safePatterns(part, allowed), allowed)
    else if (MAPS.has(keyword) && isObject(part)) copy[keyword] = preparedMap(part, allowed)
    else copy[keyword] = DATA.has(keyword) ? part : prepared(part, allowed)
  }
  return counted(withoutWrongOthers(copy, schema), allowed.budget)
}

function mayRun (keyword: string, part: Json, { pattern, uniqueItems, format }: Allowed): boolean {
  if (keyword === 'pattern') return pattern(part)
  return keyword === 'uniqueItems' ? uniqueItems : keyword !== 'format' || format
}

/** `dependencies` as `dependentSchemas`: the validator takes the map of `dependencies` for a schema, too, which references can lead to. */
function withoutDependencies (schema: Schema): Schema {
  const { dependencies, ...others } = schema
  if (dependencies === undefined) return schema
  const dependent: Schema = Object.assign(Object.create(null), isObject(schema.dependentSchemas) ? schema.dependentSchemas : {})
  for (const [name, part] of Object.entries(isObject(dependencies) ? dependencies : {})) {
    const needed = Array.isArray(part) ? { required: part } : part
    dependent[name] = dependent[name] === undefined ? needed : { allOf: [dependent[name], needed] }
  }
  return { ...others, dependentSchemas: dependent }
}

/** A format that the validator knows. Its own expression for `url` takes twice as long with each letter; `uri` means nearly the same. */
function preparedFormat (name: Json): { format?: string } {
  if (typeof name !== 'string' || !Object.hasOwn(format, name)) return {}
  return { format: name === 'url' ? 'uri' : name }
}

/** Choices that the validator does not write out in each of its errors, as it would do by `JSON.stringify`. */
function preparedEnum (choices: Json): Json {
  return Array.isArray(choices) ? Object.defineProperty([...choices], 'toJSON', { value: () => '' }) : choices
}

function safePatterns (schemas: Schema, allowed: Allowed): Schema {
  const safe = Object.entries(schemas).filter(([pattern]) => allowed.pattern(pattern))
  const mayRun = allowed.patternProperties(safe.map(([pattern]) => pattern))
  if (!mayRun || safe.length < Object.keys(schemas).length) allowed.onLeftOut()
  return mayRun ? Object.fromEntries(safe) : {}
}

function preparedMap (schemas: Schema, allowed: Allowed): Json {
  const copy: Schema = Object.create(null)
  for (const [name, part] of Object.entries(schemas)) copy[name] = prepared(part, allowed)
  return copy
}

/** Removes the keywords about other fields where a pattern that would name some of them does not run. */
function withoutWrongOthers (copy: Schema, { patternProperties }: Schema): Schema {
  if (!isObject(patternProperties) || Object.keys(copy.patternProperties ?? {}).length === Object.keys(patternProperties).length) return copy
  const { additionalProperties, unevaluatedProperties, ...others } = copy
  return others
}

/** Counts how often the validator comes to a schema: each time it reads `$ref`. */
function counted (schema: Schema, budget: Budget): Json {
  const { $ref } = schema
  budget.add(VISITS_PER_SCHEMA)
  return Object.defineProperty(schema, '$ref', {
    enumerable: $ref !== undefined,
    get () {
      budget.spend(1)
      return $ref
    }
  })
}
