import { isObject, type JsonObject } from '../../client/contract.js'

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
export const filled = (wanted: TextArgument[], values: ReadonlyMap<string, string>): Array<[string, string]> =>
  wanted.flatMap(({ name }): Array<[string, string]> => {
    const value = values.get(name) ?? ''
    return value === '' ? [] : [[name, value]]
  })

/** All arguments but the one that is completed. */
export const others = (args: JsonObject, name: string): JsonObject => Object.fromEntries(Object.entries(args).filter(([other]) => other !== name))
