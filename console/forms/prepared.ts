import { format } from '@cfworker/json-schema'
import { isObject, type Json } from '../client/contract.js'
import type { Schema } from './model/schema.js'

/** What may run on the texts of a value, and how many schemas may still be looked at. */
export interface Allowed { pattern: (pattern: Json) => boolean, format: boolean, visits: { left: number } }

const VISITS_PER_SCHEMA = 4

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const DATA = new Set(['const', 'enum', 'dependentRequired'])
/** Says nothing about a value, yet a reference could lead into it. */
const UNUSED = new Set(['default', 'examples'])

/** A copy for the validator, which marks the schemas it reads, without what may not run, and with an end to what may. */
export function prepared (given: Json, allowed: Allowed): Json {
  if (Array.isArray(given)) return given.map(part => prepared(part, allowed))
  if (!isObject(given)) return given
  const copy: Schema = {}
  const schema = withoutDependencies(given)
  for (const [keyword, part] of Object.entries(schema)) {
    if (UNUSED.has(keyword) || (keyword === 'pattern' && !allowed.pattern(part))) continue
    if (keyword === 'format') Object.assign(copy, allowed.format ? preparedFormat(part) : {})
    else if (MAPS.has(keyword) && isObject(part)) copy[keyword] = preparedMap(part, keyword === 'patternProperties', allowed)
    else copy[keyword] = DATA.has(keyword) ? part : prepared(part, allowed)
  }
  return counted(withoutWrongOthers(copy, schema), allowed.visits)
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

function preparedMap (schemas: Schema, named: boolean, allowed: Allowed): Json {
  const copy: Schema = Object.create(null)
  for (const [name, part] of Object.entries(schemas)) {
    if (!named || allowed.pattern(name)) copy[name] = prepared(part, allowed)
  }
  return copy
}

/** Without what is said about other fields, where a pattern that would name some of them does not run. */
function withoutWrongOthers (copy: Schema, { patternProperties }: Schema): Schema {
  if (!isObject(patternProperties) || Object.keys(copy.patternProperties ?? {}).length === Object.keys(patternProperties).length) return copy
  const { additionalProperties, unevaluatedProperties, ...others } = copy
  return others
}

/** Counts how often the validator comes to a schema: each time it reads `$ref`. */
function counted (schema: Schema, visits: Allowed['visits']): Json {
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
