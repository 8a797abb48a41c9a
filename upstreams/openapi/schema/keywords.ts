import { isObject } from '../../../protocol/wire/json.js'

/** Reads the value of a keyword; undefined where it means nothing. */
type Read = (value: unknown) => unknown

/** The longest description of a part of a schema, in characters. */
const MAX_TEXT = 1_000
const MAX_PATTERN = 1_000
/** The most characters of JSON of the values of an enumeration, and of a default. */
const MAX_VALUES = 8_192
const MAX_DEFAULT = 1_024

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

const text: Read = value => typeof value === 'string' ? cutText(value, MAX_TEXT) : undefined
const number: Read = value => typeof value === 'number' && Number.isFinite(value) ? value : undefined
const count: Read = value => Number.isInteger(value) && (value as number) >= 0 ? value : undefined
const flag: Read = value => value === true ? true : undefined

/** Keywords whose value is no schema, and how they are read. Those that are not here say nothing about values. */
export const PLAIN: Readonly<Record<string, Read>> = {
  __proto__: null as never,
  title: text,
  description: text,
  format: value => typeof value === 'string' && /^[\w.:-]{1,64}$/.test(value) ? value : undefined,
  pattern: value => typeof value === 'string' && value.length <= MAX_PATTERN && isPattern(value) ? value : undefined,
  multipleOf: value => typeof value === 'number' && value > 0 ? value : undefined,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  minContains: count,
  maxContains: count,
  uniqueItems: flag,
  deprecated: flag,
  contentEncoding: text,
  contentMediaType: text,
  const: value => isShort(value, MAX_VALUES) ? value : undefined,
  default: value => isShort(value, MAX_DEFAULT) ? value : undefined,
  enum: distinct,
  required: value => Array.isArray(value) ? [...new Set(value.filter(name => typeof name === 'string'))] : undefined
}

/** Keywords whose value is one schema, a list of them, or an object with one for each name. */
export const ONE = new Set([
  'additionalProperties', 'contains', 'else', 'if', 'items', 'not', 'propertyNames', 'then', 'unevaluatedItems',
  'unevaluatedProperties'
])
export const MANY = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
export const NAMED = new Set(['dependentSchemas', 'patternProperties', 'properties'])

/** The types that a schema names, without those that do not exist; undefined where it names none. */
export function typesOf (value: unknown): string | string[] | undefined {
  const named = (Array.isArray(value) ? value : [value]).filter(type => TYPES.has(type as string)) as string[]
  const types = [...new Set(named)]
  return types.length > 1 ? types : types[0]
}

/** The text, cut to a length. */
export const cutText = (given: string, max: number): string =>
  given.length > max ? `${given.slice(0, max).replace(/[\ud800-\udbff]$/, '').trimEnd()}…` : given

export function isPattern (pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

function isShort (value: unknown, max: number): boolean {
  if (typeof value === 'string') return value.length <= max
  if (isObject(value) || Array.isArray(value)) {
    try {
      return JSON.stringify(value).length <= max
    } catch {
      return false
    }
  }
  return value !== undefined
}

/** The different values of an enumeration; undefined where it has none, or too many to be shown. */
function distinct (value: unknown): unknown[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_VALUES / 2) return undefined
  const values = new Map(value.map((item: unknown) => [JSON.stringify(item), item]))
  const length = [...values.keys()].reduce((sum, item) => sum + item.length + 1, 0)
  return values.size === 0 || length > MAX_VALUES ? undefined : [...values.values()]
}
