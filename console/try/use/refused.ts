import { isObject, type Json } from '../../client/contract.js'
import type { Outcome } from '../../state/calls.js'
import { beginningOf } from '../../parts/text/beginning.js'
import { textOfContent } from '../questions/sampling.js'

/** True for a schema that describes no arguments at all. */
export function takesNothing (schema: Json | undefined): boolean {
  if (!isObject(schema)) return false
  const { properties, additionalProperties, patternProperties, ...more } = schema
  const isEmpty = (value: Json | undefined): boolean => value === undefined || (isObject(value) && Object.keys(value).length === 0)
  const shapes = ['oneOf', 'anyOf', 'allOf', '$ref', 'if']
  return isEmpty(properties) && isEmpty(patternProperties) && !isObject(additionalProperties) && !shapes.some(shape => shape in more)
}

const INVALID_PARAMS = -32602
/** Names of arguments are looked for in so many characters. */
const MAX_MESSAGE = 100_000

/** What a server had against the arguments of a call; undefined where it ended otherwise. */
export function refusalOf (outcome: Outcome | undefined): { message: string, data?: Json } | undefined {
  if (outcome?.type === 'error' && outcome.code === INVALID_PARAMS) return { message: beginningOf(outcome.message, MAX_MESSAGE), ...(outcome.data === undefined ? {} : { data: outcome.data }) }
  if (outcome?.type === 'result' && outcome.result.isError === true) return { message: beginningOf(textOfContent(outcome.result.content), MAX_MESSAGE) }
  return undefined
}
