import { formatWords } from './error-words.js'
import { numberOf, textOf, type Schema } from './schema.js'
import type { Shape } from './shape.js'

/** A longer pattern says nothing to people. */
const MAX_PATTERN = 60

/** Describes the limits that a schema sets for a value. */
export function hintsOf ({ kind, schema }: Shape): string {
  return [...limits(kind, schema)].join(' · ')
}

function * limits (kind: Shape['kind'], schema: Schema): Generator<string> {
  const { format, pattern, multipleOf, $ref } = schema
  if (kind === 'number' && schema.type === 'integer') yield 'whole number'
  yield * between(numberOf(schema.minimum), numberOf(schema.maximum), '')
  if (typeof schema.exclusiveMinimum === 'number') yield `more than ${schema.exclusiveMinimum}`
  if (typeof schema.exclusiveMaximum === 'number') yield `less than ${schema.exclusiveMaximum}`
  if (typeof multipleOf === 'number') yield `a multiple of ${multipleOf}`
  yield * between(numberOf(schema.minLength), numberOf(schema.maxLength), ' characters')
  if (kind === 'array' || kind === 'choices') {
    yield * between(numberOf(schema.minItems), numberOf(schema.maxItems), ' items')
  }
  if (schema.uniqueItems === true) yield 'no item twice'
  if (kind === 'text' && typeof format === 'string' && format !== 'password') yield formatWords(format)
  if (typeof pattern === 'string' && pattern.length <= MAX_PATTERN) yield `pattern ${pattern}`
  if (textOf($ref) !== undefined) yield `as in ${textOf($ref)}, which is not loaded`
}

function * between (min: number | undefined, max: number | undefined, unit: string): Generator<string> {
  if (min !== undefined && max !== undefined) yield min === max ? `exactly ${min}${unit}` : `${min} to ${max}${unit}`
  else if (min !== undefined && (min > 0 || unit === '')) yield `at least ${min}${unit}`
  else if (max !== undefined) yield `at most ${max}${unit}`
}
