import type { Static, TSchema } from '@sinclair/typebox'
import type { Ajv as AjvClass, ValidateFunction } from 'ajv'
import { fastCheck } from './fast-check.js'
import { loadAjv, type Dialect } from './load-ajv.js'
import { isSmall, listMistakes, readAjvError, type Wrong } from './mistakes.js'
import {
  describeStandard,
  isStandardSchema,
  refuseLookalike,
  type InferInput,
  type InferOutput,
  type Side,
  type StandardSchema
} from './standard-schema.js'

/** JSON Schema, as TypeBox or written by hand. */
export type Schema = TSchema | Record<string, unknown>

/** Every schema that authors may give. */
export type AnySchema = Schema | StandardSchema

/** The type a schema describes, after parsing; a hand-written one is not known to TypeScript. */
export type Typed<S> = S extends TSchema
  ? Static<S>
  : S extends StandardSchema
    ? InferOutput<S>
    : Record<string, unknown>

/** The type of a value before parsing, as clients send it. */
export type Unparsed<S> = S extends TSchema
  ? Static<S>
  : S extends StandardSchema
    ? InferInput<S>
    : Record<string, unknown>

/** Says what is wrong with a value; undefined when it fits. */
export type Check = (value: unknown) => string | undefined

/** Everything that is wrong with a value; undefined when it fits. */
export type CheckAll = (value: unknown) => Wrong | undefined

const DRAFT_7 = /^http:\/\/json-schema\.org\/draft-07\/schema#?$/
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

interface Engine { ajv: AjvClass, compiled: number }
const engines = new Map<string, Engine>()

/**
 * An Ajv instance keeps all schemas it has compiled. It is replaced after this many, so that unused ones can be
 * collected.
 */
const GENERATION = 64

/**
 * A schema that is not valid, or refers outside itself, throws here. What is plain needs Ajv only to say what is wrong
 * with a value.
 */
export function compile (schema: Schema): Check {
  return checkOf(schema, false, ({ text }) => text)
}

/** Like `compile`, but all mistakes of a value that is not too large are found. */
export function compileForAll (schema: Schema): CheckAll {
  return checkOf(schema, true, wrong => wrong)
}

/**
 * The JSON Schema of what a schema takes, or of what it makes of it. Throws a sentence about what to do if there is
 * none.
 */
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

function checkOf<W> (
  schema: Schema,
  findsAll: boolean,
  toWrong: (wrong: Wrong) => W
): (value: unknown) => W | undefined {
  const dialect = dialectOf((schema as Record<string, unknown>).$schema)
  const fits = fastCheck(schema)
  const suspect = fits === undefined
  let first = suspect ? byAjv(dialect, schema, true, false) : undefined
  let all: ValidateFunction | undefined
  const explain = (value: unknown): W | undefined => {
    const validate =
      findsAll && isSmall(value)
        ? (all ??= byAjv(dialect, schema, suspect, true))
        : (first ??= byAjv(dialect, schema, suspect, false))
    return validate(value) === true
      ? undefined
      : toWrong(listMistakes(validate.errors ?? [], error => readAjvError(error, schema)))
  }
  if (fits !== undefined) return value => (fits(value) ? undefined : explain(value))
  return value => (first?.(value) === true ? undefined : explain(value))
}

function byAjv (dialect: Dialect, schema: Schema, suspect: boolean, allErrors: boolean): ValidateFunction {
  const ajv = engineFor(dialect, suspect, allErrors)
  const validate = ajv.compile(schema)
  // Two tools may use the same $id.
  ajv.removeSchema(schema)
  return validate
}

// Ajv, and even more its schema of schemas, takes longer to load than the rest of a stdio launch, so it waits until it
// is needed.
function engineFor (dialect: Dialect, suspect: boolean, allErrors: boolean): AjvClass {
  const key = `${dialect} ${suspect} ${allErrors}`
  const engine = engines.get(key)
  if (engine !== undefined && engine.compiled++ < GENERATION) return engine.ajv
  const Ajv = loadAjv(dialect)
  const ajv = new Ajv({
    allErrors,
    strict: false,
    validateFormats: false,
    logger: false,
    meta: suspect,
    validateSchema: suspect
  })
  engines.set(key, { ajv, compiled: 1 })
  return ajv
}

function dialectOf ($schema: unknown): Dialect {
  if ($schema === undefined || DRAFT_2020.test(String($schema))) return '2020-12'
  if (DRAFT_7.test(String($schema))) return 'draft-07'
  throw new Error(`JSON Schema dialect ${String($schema)} is not supported; use draft 2020-12 or draft-07`)
}
