import type { TSchema } from '@sinclair/typebox'
import { chain, type Awaitable } from '../../lib/awaitable.js'
import { jsonSchemaOf, lazily, type Schema, type Typed } from '../schema/schema.js'
import { isStandardSchema, parserOf, type StandardSchema } from '../schema/standard-schema.js'
import type { ElicitAnswer, ElicitResult, Root, SampleAnswer } from '../wire/client-answers.js'
import { errors } from '../wire/errors.js'
import type { ClientRequest } from './client-request.js'

/** The content that the user enters into a form; not known to TypeScript where the schema is written by hand. */
export type Elicited<S> = S extends TSchema | StandardSchema ? Typed<S> : Record<string, unknown>

/** A question to the user that is answered in a browser. */
export interface UrlQuestion { message: string, url: string, requestedSchema?: undefined }

/** A question to the user that is answered in a form. */
export interface FormQuestion<S extends object = object> { message: string, requestedSchema?: S, url?: undefined }

/** A question to the client's model. */
export interface SampleQuestion { messages: object[], maxTokens: number, [more: string]: unknown }

/** The call of the handler that asks. */
interface Asking { ask: (requests: Record<string, ClientRequest>) => Promise<Record<string, unknown>> }

/** Asks the user. */
export function elicit (call: Asking, key: string, params: UrlQuestion | FormQuestion): Promise<ElicitResult<unknown>> {
  const answer = askOne(call, key, 'elicitation/create', { ...params, ...formOf(params.requestedSchema) })
  const parsed = answer.then(given => parseForm(params, given as ElicitAnswer))
  return ignoreRejection(parsed as Promise<ElicitResult<unknown>>)
}

/** Asks the client's model. */
export function sample (call: Asking, key: string, params: SampleQuestion): Promise<SampleAnswer> {
  return askOne(call, key, 'sampling/createMessage', params) as Promise<SampleAnswer>
}

/** Asks for the folders that the client works in. */
export function listRoots (call: Asking, key: string): Promise<Root[]> {
  return ignoreRejection(askOne(call, key, 'roots/list', {}).then(answer => (answer as { roots: Root[] }).roots))
}

/** A handler that asks twice and awaits the first may never look at the second; that is not a mistake of its own. */
export function ignoreRejection<T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

function askOne (call: Asking, key: string, method: string, params: Record<string, unknown>): Promise<unknown> {
  return ignoreRejection(call.ask({ [key]: { method, params } }).then(answers => answers[key]))
}

/** The JSON Schema of a form as a member of the params, as clients get it. */
function formOf (schema: object | undefined): { requestedSchema?: Schema } {
  return schema === undefined ? {} : { requestedSchema: jsonSchemaOf(schema as Schema | StandardSchema, 'input') }
}

/**
 * The answer to a form, with its content as the schema of the form parses it; a client may leave out an empty one.
 * Throws invalid params when the schema refuses it.
 */
function parseForm (
  { requestedSchema: schema, url }: UrlQuestion | FormQuestion,
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
