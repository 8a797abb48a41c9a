import { isObject } from '../../../protocol/wire/json.js'
import { listOf, type Json, type References } from '../document/references.js'
import { fit } from '../schema/fit.js'
import type { Converted, Schemas } from '../schema/schemas.js'

/** Statuses of answers that are no errors. */
const SUCCESS = /^2(\d\d|XX)$/i

/**
 * The schema of the structured content of results: that of the JSON of all successful answers, in an object where it is
 * something else, as results are. Undefined where they have none or different ones, and where only the answer tells
 * whether it is an object.
 */
export function outputSchema (
  operation: Json,
  document: Json,
  references: References,
  schemas: Schemas,
  maxSchema: number
): Json | undefined {
  const responses = Object.entries(isObject(operation['responses']) ? operation['responses'] : {})
    .filter(([status]) => SUCCESS.test(status))
    .map(([, response]) => {
      const found = references.follow(response)
      if (found === undefined && isObject(response) && typeof response['$ref'] === 'string') schemas.lost.add(response['$ref'])
      return schemaOfAnswer(found, operation, document, references)
    })
  if (responses.includes(undefined)) return undefined
  const all = responses.map(schema => schemas.convert(schema))
  const [first] = all
  if (first === undefined || new Set(all.map(({ schema }) => JSON.stringify(schema))).size > 1) return undefined
  const root = inlined(first, schemas)
  const { schema, length, pointers } = root
  const type = schema['type'] ?? (isObject(schema['properties']) ? 'object' : undefined)
  if (typeof type !== 'string') return undefined
  const output: Json = type === 'object'
    ? { ...schema, type }
    : { type: 'object', properties: { result: schema }, required: ['result'] }
  return fit({ schema: output, length: length + WRAPPED, pointers }, schemas, maxSchema)?.schema
}

/** Characters of JSON around a schema that is not that of an object. */
const WRAPPED = 64

/** The schema of an answer whose only form is JSON. */
function schemaOfAnswer (
  response: Json | undefined,
  operation: Json,
  document: Json,
  references: References
): unknown {
  if (response?.['schema'] !== undefined) {
    const produced = listOf(operation['produces'] ?? document['produces'])
    return produced.every(isJson) ? response['schema'] : undefined
  }
  const content = isObject(response?.['content']) ? response['content'] : {}
  const types = Object.keys(content)
  const [media] = types.map(type => references.follow(content[type]))
  return types.length > 0 && types.every(isJson) ? media?.['schema'] : undefined
}

const isJson = (type: unknown): boolean => typeof type === 'string' && /[/+]json\b/i.test(type)

/** The schema itself in place of a reference to it: the root of an output schema names its type. */
function inlined (converted: Converted, schemas: Schemas): Converted {
  let root = converted
  for (let links = 0; links < MAX_LINKS && typeof root.schema['$ref'] === 'string'; links++) {
    const [pointer] = root.pointers
    if (pointer === undefined) return root
    root = schemas.at(pointer)
  }
  return root
}

const MAX_LINKS = 32
