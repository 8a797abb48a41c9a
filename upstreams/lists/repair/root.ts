import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../protocol/wire/json.js'
import type { Members } from './dialects.js'
import { COMPOUND } from './keywords.js'
import type { Links } from './references.js'

/** Keywords whose meaning depends on those that are taken away with a union. */
const DEPENDENT = ['unevaluatedProperties', 'unevaluatedItems'] as const
/** The most schemas that are merged into one. */
const MAX_PARTS = 200

export const isCompound = (schema: Members): boolean => COMPOUND.some(key => schema[key] !== undefined)

/** A schema of objects without unions at its root that allows every object which the given one allows, and more. */
export function flatten (schema: Members, links: Links): Members {
  return new Flattening(links).run(schema)
}

class Flattening {
  readonly #links: Links
  readonly #known = new Map<Members, Members>()
  #parts = 0

  constructor (links: Links) {
    this.#links = links
  }

  run (schema: Members): Members {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    if (++this.#parts > MAX_PARTS) return {}
    // A schema that refers to itself adds nothing to itself.
    this.#known.set(schema, {})
    const flat = this.#flat(schema)
    this.#known.set(schema, flat)
    return flat
  }

  #flat (schema: Members): Members {
    if (!isCompound(schema)) return schema
    const { $ref, allOf, anyOf, oneOf, ...own } = schema
    for (const key of DEPENDENT) delete own[key]
    const target = this.#links.get(schema)
    const parts = [own, ...(target === undefined ? [] : [this.run(target)]), ...listOf(allOf).map(part => this.run(part))]
    for (const union of [anyOf, oneOf]) if (Array.isArray(union)) parts.push(unite(listOf(union).filter(mayBeObject).map(branch => this.run(branch))))
    return parts.reduce(join)
  }
}

/** `true` allows everything; `false`, which allows nothing, may be taken for it. */
const listOf = (schemas: unknown): Members[] => Array.isArray(schemas) ? schemas.map(schema => isObject(schema) ? schema : {}) : []

function mayBeObject ({ type }: Members): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

/** What both ask for, or less. The first has the word where both say something of one thing. */
function join (one: Members, other: Members): Members {
  const joined = { ...other, ...one }
  // The parts of a condition belong together.
  if (one.if === undefined || other.if === undefined) for (const key of ['if', 'then', 'else']) joined[key] = one.if === undefined ? other[key] : one[key]
  else for (const key of ['then', 'else']) joined[key] = one[key]
  for (const key of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentRequired', 'dependentSchemas']) {
    if (isObject(one[key]) && isObject(other[key])) joined[key] = { ...one[key], ...withoutKeys(other[key], one[key]) }
  }
  const required = [...new Set([...namesIn(one.required), ...namesIn(other.required)])]
  if (required.length > 0) joined.required = required
  for (const key of [...DEPENDENT, ...['if', 'then', 'else'].filter(key => joined[key] === undefined)]) delete joined[key]
  return joined
}

/** The properties of all branches. One that a branch does not mention may be anything there, unless the branch is closed. */
function unite (branches: readonly Members[]): Members {
  const [first] = branches
  if (first === undefined) return {}
  if (branches.length === 1) return first
  const names = new Set(branches.flatMap(({ properties }) => isObject(properties) ? Object.keys(properties) : []))
  const properties: Members = {}
  for (const name of names) properties[name] = oneOfThese(branches.flatMap(branch => alternatives(branch, name)))
  const required = namesIn(first.required).filter(name => branches.every(branch => namesIn(branch.required).includes(name)))
  return {
    ...(names.size === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(branches.every(isClosed) ? { additionalProperties: false } : {})
  }
}

function alternatives (branch: Members, name: string): Members[] {
  const { properties } = branch
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(own) ? [own] : isClosed(branch) ? [] : [{}]
}

const isClosed = ({ additionalProperties, patternProperties }: Members): boolean => additionalProperties === false && patternProperties === undefined

function oneOfThese (all: readonly Members[]): Members {
  const different: Members[] = []
  for (const schema of all) if (!different.some(known => isDeepStrictEqual(known, schema))) different.push(schema)
  const [first = {}] = different
  if (different.length < 2) return first
  const values = different.map(valuesOf)
  if (!values.every(list => list !== undefined)) return { anyOf: [...different.filter(schema => !isEmpty(schema)), ...different.filter(isEmpty)] }
  const { type, title, description } = first
  return {
    ...(type !== undefined && different.every(schema => isDeepStrictEqual(schema.type, type)) ? { type } : {}),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    enum: values.flat().filter((value, index, list) => list.findIndex(known => isDeepStrictEqual(known, value)) === index)
  }
}

const isEmpty = (schema: Members): boolean => Object.keys(schema).length === 0

/** The values that a schema names, if it does. */
function valuesOf (schema: Members): unknown[] | undefined {
  return 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
}

const namesIn = (required: unknown): string[] => Array.isArray(required) ? required as string[] : []

function withoutKeys (all: Members, keys: Members): Members {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !Object.hasOwn(keys, key)))
}
