import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/

/**
 * The arguments in a query, whose texts become what the input schema has for them: numbers, booleans, null, lists of
 * repeated members, and objects and lists written in JSON. A text that does not fit stays a text, which is refused by
 * name when the arguments are checked.
 */
export function queryArguments (query: unknown, schema: unknown): Params {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(Object.entries(Object(query) as Record<string, string | string[]>).map(([name, given]) => {
    const of = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, valueOf(given, of, schema)]
  }))
}

function valueOf (given: string | string[], schema: unknown, root: unknown): unknown {
  const types = typesOf(schema, root)
  if (!types.has('array')) return Array.isArray(given) ? given : scalarOf(given, types)
  const ofItems = typesOf(itemsOf(schema, root), root)
  if (Array.isArray(given)) return given.map(text => scalarOf(text, ofItems))
  const list = given.startsWith('[') ? jsonOf(given) : undefined
  if (Array.isArray(list)) return list
  return types.has('string') ? scalarOf(given, types) : [scalarOf(given, ofItems)]
}

function scalarOf (text: string, types: ReadonlySet<unknown>): unknown {
  if ((types.has('number') || types.has('integer')) && NUMBER.test(text) && Number.isFinite(Number(text))) {
    return Number(text)
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  if (types.has('null') && text === 'null') return null
  if (types.has('object') && text.startsWith('{')) return jsonOf(text) ?? text
  return text
}

function jsonOf (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const itemsOf = (schema: unknown, root: unknown): unknown => {
  const found = resolve(schema, root)
  return isObject(found) ? found.items : undefined
}

/** How many references may follow each other. */
const MAX_LINKS = 8

/** The types of values that a schema may allow, as far as it names them. Each part is looked at once. */
function typesOf (schema: unknown, root: unknown): Set<unknown> {
  const types = new Set<unknown>()
  const parts = new Set([resolve(schema, root)])
  // A set may grow while it is read.
  for (const part of parts) {
    if (!isObject(part)) continue
    const { type, anyOf, oneOf, allOf, enum: values, const: value } = part
    for (const named of type === undefined ? [] : [type].flat()) types.add(named)
    for (const each of [...Array.isArray(values) ? values : [], ...value === undefined ? [] : [value]]) {
      types.add(each === null ? 'null' : typeof each)
    }
    for (const each of [anyOf, oneOf, allOf].flat()) parts.add(resolve(each, root))
  }
  return types
}

/** The schema that a reference into the same schema names. */
function resolve (schema: unknown, root: unknown, links = 0): unknown {
  if (!isObject(schema) || typeof schema.$ref !== 'string' || links > MAX_LINKS) return schema
  if (!schema.$ref.startsWith('#')) return undefined
  const parts = schema.$ref.slice(1).split('/').filter(part => part !== '')
  const found = parts.reduce<unknown>((at, part) => {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, root)
  return resolve(found, root, links + 1)
}
