import { isObject } from '../../../protocol/wire/json.js'

/** How to read the value of a keyword: as a schema, a list of them, schemas by name, or a value that a test accepts. */
export type Reading =
  'schema' | 'schemas' | 'schemas by name' | 'properties' | 'dependencies' | 'type' | 'required' | 'pattern' |
  'patterns' | ((value: unknown) => boolean)

export const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

const isText = (value: unknown): boolean => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isNumber = (value: unknown): boolean => typeof value === 'number'
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0
const isPositive = (value: unknown): boolean => typeof value === 'number' && value > 0
const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const areNamesByName = (value: unknown): boolean => isObject(value) && Object.values(value).every(areTexts)
const areFlagsByName = (value: unknown): boolean => isObject(value) && Object.values(value).every(isFlag)

/** The keywords of the newest dialect. Others are not here: their values are not rewritten. */
export const KEYWORDS: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['$ref', isText], ['$schema', isText], ['$comment', isText], ['title', isText], ['description', isText],
  ['format', isText], ['pattern', 'pattern'],
  ['contentEncoding', isText], ['contentMediaType', isText], ['$vocabulary', areFlagsByName],
  ['deprecated', isFlag], ['readOnly', isFlag], ['writeOnly', isFlag], ['uniqueItems', isFlag],
  ['examples', Array.isArray], ['enum', isFilled],
  ['minimum', isNumber], ['maximum', isNumber], ['exclusiveMinimum', isNumber], ['exclusiveMaximum', isNumber],
  ['multipleOf', isPositive],
  ['minLength', isCount], ['maxLength', isCount], ['minItems', isCount], ['maxItems', isCount],
  ['minProperties', isCount], ['maxProperties', isCount], ['minContains', isCount], ['maxContains', isCount],
  ['type', 'type'], ['required', 'required'], ['dependentRequired', areNamesByName], ['dependencies', 'dependencies'],
  ['properties', 'properties'], ['patternProperties', 'patterns'], ['dependentSchemas', 'schemas by name'],
  ['$defs', 'schemas by name'], ['definitions', 'schemas by name'],
  ['allOf', 'schemas'], ['anyOf', 'schemas'], ['oneOf', 'schemas'], ['prefixItems', 'schemas'],
  ['additionalProperties', 'schema'], ['unevaluatedProperties', 'schema'], ['unevaluatedItems', 'schema'],
  ['items', 'schema'], ['contains', 'schema'], ['propertyNames', 'schema'],
  ['not', 'schema'], ['if', 'schema'], ['then', 'schema'], ['else', 'schema'], ['contentSchema', 'schema']
])

/** Keywords that make a schema more than a list of its own properties. */
export const COMPOUND = ['$ref', 'allOf', 'anyOf', 'oneOf'] as const

/** Keywords that constrain nothing. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  '$schema', '$comment', '$vocabulary', 'title', 'description', 'examples', 'deprecated', 'readOnly', 'writeOnly',
  'contentEncoding', 'contentMediaType', 'contentSchema'
])

/** Keywords whose values are values, not schemas: they are never looked into. */
export const VALUES: ReadonlySet<string> = new Set(['const', 'default'])

/** Words that some validators take for keywords, and refuse schemas for them, or write into schemas themselves. */
export const REFUSED: ReadonlySet<string> = new Set([
  '$async', 'formatMinimum', 'formatMaximum', 'formatExclusiveMinimum', 'formatExclusiveMaximum',
  '__absolute_uri__', '__absolute_ref__', '__absolute_recursive_ref__'
])

type Visit = (inner: Record<string, unknown>, keyword: string, name?: string) => void

/** Calls a function for each schema directly inside one, with the keyword and the name or number that lead to it. */
export function eachInside (schema: Record<string, unknown>, visit: Visit): void {
  for (const key in schema) {
    const reading = KEYWORDS.get(key)
    const value = schema[key]
    if (typeof reading !== 'string' || typeof value !== 'object' || value === null) continue
    if (reading === 'schema') visit(value as Record<string, unknown>, key)
    else if (reading !== 'type' && reading !== 'required') {
      for (const name in value) {
        const inner = (value as Record<string, unknown>)[name]
        if (isObject(inner)) visit(inner, key, name)
      }
    }
  }
}
