import { chain, type Awaitable } from '../../lib/awaitable.js'
import { shorten } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import { listMistakes, segment, type DescribedMistake, type Wrong } from './mistakes.js'

/**
 * A schema that checks values, may change them, and can give JSON Schema, such as Zod's:
 * https://standardschema.dev/json-schema
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly types?: { readonly input: Input, readonly output: Output } | undefined
    readonly validate: (value: unknown) => Awaitable<StandardResult<Output>>
    readonly jsonSchema: Record<Side, (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>>
  }
}

/** The value that such a schema takes. */
export type InferInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']

/** The value that such a schema makes of it. */
export type InferOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

/** The value that a schema takes, or makes of it. */
export type Side = 'input' | 'output'

/** Gives what a schema makes of a value, or throws. */
export type Parse = (value: unknown) => unknown

export const isStandardSchema = (schema: unknown): schema is StandardSchema => standardOf(schema) !== undefined

/** The JSON Schema of one side. Throws a sentence that says what to do where the library cannot give it. */
export function describeStandard (schema: StandardSchema, side: Side): Record<string, unknown> {
  const { vendor, jsonSchema } = schema['~standard']
  // Types are removed from an author's file, not checked.
  if (typeof jsonSchema?.[side] !== 'function') {
    throw new Error(`this ${nameOf(vendor)} schema cannot describe itself as JSON Schema; ${remedyOf(vendor)}`)
  }
  try {
    return withType(jsonSchema[side]({ target: 'draft-2020-12' }))
  } catch (error) {
    throw new Error(
      `${nameOf(vendor)} has no JSON Schema for it: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error }
    )
  }
}

/**
 * Throws a sentence for an object that is no schema but holds some, as other libraries take it, and for a schema that
 * is too old to be known.
 */
export function refuseLookalike (schema: unknown): void {
  if (isOldZod(schema)) throw new Error(`this Zod schema cannot describe itself as JSON Schema; ${remedyOf('zod')}`)
  const [inner] = isObject(schema)
    ? Object.values(schema).filter(value => isStandardSchema(value) || isOldZod(value))
    : []
  if (inner === undefined) return
  const vendor = standardOf(inner)?.vendor ?? 'zod'
  throw new Error(
    `an object of ${nameOf(vendor)} schemas is no schema; wrap it in ${vendor === 'zod' ? 'z.object({ ... })' : `the object schema of ${nameOf(vendor)}`}`
  )
}

/** Makes a function that parses values; `toError` gets what is wrong with one. */
export function parserOf (schema: StandardSchema, toError: (wrong: Wrong, value: unknown) => Error): Parse {
  const standard = schema['~standard']
  return value => chain(standard.validate(value), result => {
    if (result.issues !== undefined) throw toError(listMistakes(result.issues, readIssue), value)
    return result.value
  })
}

const NAMES: Record<string, string> = { zod: 'Zod', valibot: 'Valibot', arktype: 'ArkType' }

const REMEDIES: Record<string, string> = {
  zod: 'use Zod 4.2 or newer and not zod/mini, or in Zod 4 give z.toJSONSchema(schema)',
  valibot: 'wrap it in toStandardJsonSchema(schema) of @valibot/to-json-schema'
}

const nameOf = (vendor: string): string => NAMES[vendor] ?? vendor

const remedyOf = (vendor: string): string =>
  REMEDIES[vendor] ?? `use a version of ${nameOf(vendor)} that implements Standard JSON Schema, or give JSON Schema`

function standardOf (schema: unknown): { vendor: string } | undefined {
  if (!isObject(schema) && typeof schema !== 'function') return undefined
  const standard: unknown = Reflect.get(schema, '~standard')
  return isObject(standard) && typeof standard.vendor === 'string' ? { vendor: standard.vendor } : undefined
}

/** True for a schema of Zod before 3.24, the first version with `~standard`. */
const isOldZod = (schema: unknown): boolean =>
  isObject(schema) && '_def' in schema && typeof schema.safeParse === 'function' && !isStandardSchema(schema)

/** MCP requires the type, which a union of objects leaves to its branches. */
function withType (schema: Record<string, unknown>): Record<string, unknown> {
  const branches = schema.anyOf ?? schema.oneOf ?? schema.allOf
  const areObjects =
    schema.type === undefined &&
    Array.isArray(branches) &&
    branches.length > 0 &&
    branches.every(branch => isObject(branch) && branch.type === 'object')
  return areObjects ? { type: 'object', ...schema } : schema
}

function readIssue ({ message, path = [] }: Issue): DescribedMistake {
  const names = path.map(part => String(typeof part === 'object' ? part.key : part))
  const where = shorten(names.join('.'))
  return {
    path: shorten(names.map(segment).join('')),
    message,
    sentence: where === '' || message.startsWith(`${where} `) ? message : `${where}: ${message}`
  }
}
