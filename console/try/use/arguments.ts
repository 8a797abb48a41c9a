import { isObject, type Json, type JsonObject } from '../../client/contract.js'
import { beginningOf } from '../../parts/text.js'
import type { Outcome } from '../../state/calls.js'
import { textOfContent } from '../questions/answers.js'

interface TextArgument { name: string, description?: string, required: boolean }

export function promptArguments ({ arguments: listed }: JsonObject): TextArgument[] {
  if (!Array.isArray(listed)) return []
  return listed.filter(isObject).flatMap(({ name, description, required }) => typeof name === 'string'
    ? [{ name, required: required === true, ...(typeof description === 'string' ? { description } : {}) }]
    : [])
}

/** The names of needed arguments that are empty. */
export const missingOf = (wanted: TextArgument[], values: ReadonlyMap<string, string>): string[] =>
  wanted.filter(({ name, required }) => required && (values.get(name) ?? '') === '').map(({ name }) => name)

/** Name and value of what was typed; an empty optional argument is left out. */
export const filledArguments = (wanted: TextArgument[], values: ReadonlyMap<string, string>): Array<[string, string]> =>
  wanted.flatMap(({ name }): Array<[string, string]> => {
    const value = values.get(name) ?? ''
    return value === '' ? [] : [[name, value]]
  })

/** All arguments but the one that is completed. */
export const others = (args: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([other]) => other !== name))

/** True for a schema that describes no arguments at all. */
export function takesNothing (schema: Json | undefined): boolean {
  if (!isObject(schema)) return false
  const { properties, additionalProperties, patternProperties, ...more } = schema
  const isEmpty = (value: Json | undefined): boolean =>
    value === undefined || (isObject(value) && Object.keys(value).length === 0)
  const shapes = ['oneOf', 'anyOf', 'allOf', '$ref', 'if']
  return (
    isEmpty(properties) &&
    isEmpty(patternProperties) &&
    !isObject(additionalProperties) &&
    !shapes.some(shape => shape in more)
  )
}

const INVALID_PARAMS = -32602
/** Names of arguments are looked for in so many characters. */
const MAX_MESSAGE = 100_000

/** The server's refusal of the arguments of a call; undefined where it ended otherwise. */
export function refusalOf (outcome: Outcome | undefined): { message: string, data?: Json } | undefined {
  if (outcome?.type === 'error' && outcome.code === INVALID_PARAMS) {
    return {
      message: beginningOf(outcome.message, MAX_MESSAGE),
      ...(outcome.data === undefined ? {} : { data: outcome.data })
    }
  }
  if (outcome?.type === 'result' && outcome.result.isError === true) {
    return { message: beginningOf(textOfContent(outcome.result.content), MAX_MESSAGE) }
  }
  return undefined
}
