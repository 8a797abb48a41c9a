import type { Static, TSchema } from '@sinclair/typebox'
import type { Ajv as AjvClass, ErrorObject, ValidateFunction } from 'ajv'
import { shorten } from '../wire/errors.js'
import { isObject } from '../wire/json.js'
import { fastCheck } from './fast-check.js'
import { loadAjv, type Dialect } from './load-ajv.js'
import { describeStandard, isStandardSchema, refuseLookalike, type InferInput, type InferOutput, type Side, type StandardSchema } from './standard-schema.js'

/** JSON Schema, as TypeBox or written by hand. */
export type Schema = TSchema | Record<string, unknown>

/** Every schema that authors may give. */
export type AnySchema = Schema | StandardSchema

/** The type a schema describes, after parsing; a hand-written one is not known to TypeScript. */
export type Typed<S> = S extends TSchema ? Static<S> : S extends StandardSchema ? InferOutput<S> : Record<string, unknown>

/** The same before parsing: what clients send. */
export type Unparsed<S> = S extends TSchema ? Static<S> : S extends StandardSchema ? InferInput<S> : Record<string, unknown>

/** What is wrong with a value, in words; undefined when it fits. */
export type Check = (value: unknown) => string | undefined

/** A longer message about a pattern is not repeated to the client. */
const MAX_PATTERN = 120

const DRAFT_7 = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

interface Engine { ajv: AjvClass, compiled: number }
const engines = new Map<string, Engine>()

/** An Ajv instance keeps all schemas it has compiled. It is replaced after this many, so that unused ones can be collected. */
const GENERATION = 64

/** A schema that is not valid, or refers outside itself, throws here. What is plain needs Ajv only to say what is wrong with a value. */
export function compile (schema: Schema): Check {
  const dialect = dialectOf((schema as Record<string, unknown>).$schema)
  const fits = fastCheck(schema)
  if (fits === undefined) return byAjv(dialect, schema, true)
  let explain: Check | undefined
  return value => fits(value) ? undefined : (explain ??= byAjv(dialect, schema, false))(value)
}

/** The JSON Schema of what a schema takes, or of what it makes of it. Throws a sentence about what to do if there is none. */
export function jsonSchemaOf (schema: AnySchema, side: Side): Schema {
  if (isStandardSchema(schema)) return describeStandard(schema, side)
  refuseLookalike(schema)
  return schema
}

/** Compiles on first use: for our own schemas, which are known to be good. */
export function lazily (schema: Schema): Check {
  let check: Check | undefined
  return value => (check ??= compile(schema))(value)
}

function byAjv (dialect: Dialect, schema: Schema, suspect: boolean): Check {
  const ajv = engineFor(dialect, suspect)
  const validate = ajv.compile(schema)
  // Two tools may use the same $id.
  ajv.removeSchema(schema)
  return value => validate(value) === true ? undefined : describe(validate, schema)
}

// Ajv, and even more its schema of schemas, takes longer to load than the rest of a stdio launch, so it waits until it is needed.
function engineFor (dialect: Dialect, suspect: boolean): AjvClass {
  const key = `${dialect} ${suspect}`
  const engine = engines.get(key)
  if (engine !== undefined && engine.compiled++ < GENERATION) return engine.ajv
  const Ajv = loadAjv(dialect)
  const ajv = new Ajv({ strict: false, validateFormats: false, logger: false, meta: suspect, validateSchema: suspect })
  engines.set(key, { ajv, compiled: 1 })
  return ajv
}

function dialectOf ($schema: unknown): Dialect {
  if ($schema === undefined || DRAFT_2020.test(String($schema))) return '2020-12'
  if (DRAFT_7.test(String($schema))) return 'draft-07'
  throw new Error(`JSON Schema dialect ${String($schema)} is not supported; use draft 2020-12 or draft-07`)
}

function describe ({ errors }: ValidateFunction, schema: Schema): string {
  return [...new Set((errors ?? []).map(error => sentence(error, schema)))].join('; ')
}

function sentence (error: ErrorObject, schema: Schema): string {
  const { instancePath, keyword, params } = error
  const where = shorten(instancePath.slice(1)).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  if (keyword === 'required') return `${where === '' ? '' : `${where}: `}"${String(params.missingProperty)}" is missing`
  return `${where === '' ? 'it' : where} ${messageOf(error, schema)}${detail(keyword, params)}`
}

/** A format says more to a person than the pattern that a schema library gives beside it; a long pattern says nothing. */
function messageOf ({ keyword, message = 'does not fit', schemaPath }: ErrorObject, schema: Schema): string {
  if (keyword !== 'pattern') return message
  const format = memberAt(schema, schemaPath.replace(/pattern$/, 'format'))
  if (typeof format === 'string') return `must match format "${format}"`
  return message.length <= MAX_PATTERN ? message : 'must match the pattern of its schema'
}

/** What a JSON pointer in a URI fragment leads to, such as `#/properties/a/format`. */
function memberAt (schema: unknown, pointer: string): unknown {
  const names = pointer.split('/').slice(1).map(name => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((value, name) => isObject(value) || Array.isArray(value) ? Reflect.get(value, name) : undefined, schema)
}

// Ajv's own words leave out the part that a person needs most.
function detail (keyword: string, params: Record<string, unknown>): string {
  if (keyword === 'additionalProperties') return `: "${shorten(String(params.additionalProperty))}"`
  if (keyword === 'unevaluatedProperties') return `: "${shorten(String(params.unevaluatedProperty))}"`
  if (keyword === 'enum') return `: ${(params.allowedValues as unknown[]).map(value => JSON.stringify(value)).join(', ')}`
  return keyword === 'const' ? `: ${JSON.stringify(params.allowedValue)}` : ''
}
