import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../wire/json.js'
import { resolvePointer } from './references.js'

type Members = Record<string, unknown>

/** Words that describe a schema as a whole, of which the outer one counts. */
const OUTER = new Set(['$schema', '$id', '$defs', 'definitions', 'title', 'description', '$comment'])

/** One schema of one and of others that hold besides, without `allOf` where nothing is said twice. */
export function joinSchemas (out: Members, also: readonly unknown[]): Members {
  const [only] = also
  const isSimple = also.length === 1 && isObject(only) &&
    Object.keys(only).every(key => OUTER.has(key) || !Object.hasOwn(out, key))
  if (isSimple) return { ...(only as Members), ...out }
  return also.length === 0 ? out : { ...out, allOf: [...(Array.isArray(out.allOf) ? out.allOf : []), ...also] }
}

/** True for an object without members. */
export const isEmpty = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0

/** The names in a list of a schema, such as `required`. */
export const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []

/** True for a schema that every value fits. */
export const isTrue = (schema: unknown): boolean =>
  schema === true || (isObject(schema) && Object.keys(schema).every(key => OUTER.has(key)))

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: value => value === null,
  boolean: value => typeof value === 'boolean',
  string: value => typeof value === 'string',
  number: value => typeof value === 'number',
  integer: value => Number.isInteger(value),
  array: Array.isArray,
  object: isObject
}

/** How many references lead on from one to the next at most. */
const MAX_REFERENCES = 8

/** True for a value that `type`, `const` or `enum` of a schema excludes; `root` is what it refers to. */
export function contradicts (value: unknown, schema: unknown, root: Members, left = MAX_REFERENCES): boolean {
  if (!isObject(schema)) return schema === false
  if (typeof schema.$ref === 'string' && left > 0) {
    if (contradicts(value, resolvePointer(root, schema.$ref), root, left - 1)) return true
  }
  const types = [schema.type].flat()
  if (types.every(type => typeof type === 'string' && Object.hasOwn(TYPES, type) && TYPES[type]?.(value) === false)) {
    return true
  }
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema.const, value)) return true
  return Array.isArray(schema.enum) && !schema.enum.some(each => isDeepStrictEqual(each, value))
}
