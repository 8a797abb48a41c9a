import type { TSchema } from '@sinclair/typebox'
import { chain, type Awaitable } from '../../lib/awaitable.js'
import { jsonSchemaOf, lazily, type Schema, type Typed } from '../schema/schema.js'
import { isStandardSchema, parserOf, type StandardSchema } from '../schema/standard-schema.js'
import type { ElicitAnswer } from '../wire/client-answers.js'
import { errors } from '../wire/errors.js'

/** The content that the user enters into a form; not known to TypeScript where the schema is written by hand. */
export type Elicited<S> = S extends TSchema | StandardSchema ? Typed<S> : Record<string, unknown>

/** The JSON Schema of a form as a member of the params, as clients get it. */
export function formOf (schema: object | undefined): { requestedSchema?: Schema } {
  return schema === undefined ? {} : { requestedSchema: jsonSchemaOf(schema as Schema | StandardSchema, 'input') }
}

/**
 * The answer to a form, with its content as the schema of the form parses it; a client may leave out an empty one.
 * Throws invalid params when the schema refuses it.
 */
export function parseForm (
  { requestedSchema: schema, url }: { requestedSchema?: object | undefined; url?: string | undefined },
  answer: ElicitAnswer
): Awaitable<ElicitAnswer> {
  if (answer.action !== 'accept' || url !== undefined) return answer
  if (!isStandardSchema(schema)) return answer.content === undefined ? { ...answer, content: {} } : answer
  const parse = parserOf(schema, ({ text }) => errors.badAnswer('elicitation/create', text))
  return chain(parse(answer.content ?? {}), content => ({ ...answer, content: content as Record<string, unknown> }))
}

/** Returns a function that gives a client's answer back, and throws invalid params when it does not fit the schema. */
export function answerChecker (method: string, schema: Schema): (answer: unknown) => unknown {
  const check = lazily(schema)
  return answer => {
    const wrong = check(answer)
    if (wrong !== undefined) throw errors.badAnswer(method, wrong)
    return answer
  }
}
