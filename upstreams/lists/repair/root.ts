import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../protocol/wire/json.js'
import type { Members } from './dialects.js'
import { COMPOUND } from './keywords.js'
import type { Links } from './references.js'
import { TooLarge } from './rewriting.js'

/** Keywords whose meaning depends on those that are taken away with a union. */
const DEPENDENT = ['unevaluatedProperties', 'unevaluatedItems'] as const
/** The most schemas that are merged into one. */
const MAX_PARTS = 200
/** The most properties, names and values that are merged, counted each time. */
const MAX_WORK = 5_000
/** How many characters of JSON are as much work as one of them. */
const TEXT = 100

export const isCompound = (schema: Members): boolean => COMPOUND.some(key => schema[key] !== undefined)

/** A schema of objects without unions at its root that allows every object which the given one allows, and more. Throws `TooLarge`. */
export function flatten (schema: Members, links: Links): Members {
  return new Flattening(links).run(schema)
}

class Flattening {
  readonly #links: Links
  readonly #known = new Map<Members, Members>()
  #parts = 0
  #work = 0

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
    for (const union of [anyOf, oneOf]) if (Array.isArray(union)) parts.push(this.#unite(listOf(union).filter(mayBeObject).map(branch => this.run(branch))))
    return parts.reduce((one, other) => this.#join(one, other))
  }

  #count (more: number): void {
    this.#work += more
    if (this.#work > MAX_WORK) throw new TooLarge()
  }

  /** What both ask for, or less. The first has the word where both say something of one thing. */
  #join (one: Members, other: Members): Members {
    const joined = { ...other, ...one }
    // The parts of a condition belong together.
    if (one.if === undefined || other.if === undefined) for (const key of ['if', 'then', 'else']) joined[key] = one.if === undefined ? other[key] : one[key]
    else for (const key of ['then', 'else']) joined[key] = one[key]
    for (const key of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentRequired', 'dependentSchemas']) {
      if (!isObject(one[key]) || !isObject(other[key])) continue
      this.#count(Object.keys(one[key]).length + Object.keys(other[key]).length)
      joined[key] = { ...one[key], ...withoutKeys(other[key], one[key]) }
    }
    this.#count(namesIn(one.required).length + namesIn(other.required).length)
    const required = [...new Set([...namesIn(one.required), ...namesIn(other.required)])]
    if (required.length > 0) joined.required = required
    for (const key of [...DEPENDENT, ...['if', 'then', 'else'].filter(key => joined[key] === undefined)]) delete joined[key]
    return joined
  }

  /** The properties of all branches. One that a branch does not mention may be anything there, unless the branch is closed. */
  #unite (branches: readonly Members[]): Members {
    const [first, ...others] = branches
    if (first === undefined) return {}
    if (others.length === 0) return first
    const names = new Set(branches.flatMap(({ properties }) => isObject(properties) ? Object.keys(properties) : []))
    this.#count(names.size * branches.length + branches.reduce((sum, { required }) => sum + namesIn(required).length, 0))
    const properties: Members = {}
    for (const name of names) properties[name] = this.#oneOfThese(branches.flatMap(branch => alternatives(branch, name)))
    const requiredOf = branches.map(branch => new Set(namesIn(branch.required)))
    const required = namesIn(first.required).filter(name => requiredOf.every(names => names.has(name)))
    return {
      ...(names.size === 0 ? {} : { properties }),
      ...(required.length === 0 ? {} : { required }),
      ...(branches.every(isClosed) ? { additionalProperties: false } : {})
    }
  }

  #oneOfThese (all: readonly Members[]): Members {
    const different = this.#different(all)
    const [first = {}] = different
    if (different.length < 2) return first
    const values = different.map(valuesOf)
    if (!values.every(list => list !== undefined)) return { anyOf: [...different.filter(schema => !isEmpty(schema)), ...different.filter(isEmpty)] }
    const { type, title, description } = first
    return {
      ...(type !== undefined && different.every(schema => isDeepStrictEqual(schema.type, type)) ? { type } : {}),
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      enum: this.#different(values.flat())
    }
  }

  /** Without those that are written as one before. */
  #different<T> (values: readonly T[]): T[] {
    if (values.length < 2) return [...values]
    const byText = new Map<string, T>()
    for (const value of values) {
      const text = JSON.stringify(value)
      this.#count(1 + text.length / TEXT)
      if (!byText.has(text)) byText.set(text, value)
    }
    return [...byText.values()]
  }
}

/** `true` allows everything; `false`, which allows nothing, may be taken for it. */
const listOf = (schemas: unknown): Members[] => Array.isArray(schemas) ? schemas.map(schema => isObject(schema) ? schema : {}) : []

function mayBeObject ({ type }: Members): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function alternatives (branch: Members, name: string): Members[] {
  const { properties } = branch
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(own) ? [own] : isClosed(branch) ? [] : [{}]
}

const isClosed = ({ additionalProperties, patternProperties }: Members): boolean => additionalProperties === false && patternProperties === undefined

const isEmpty = (schema: Members): boolean => Object.keys(schema).length === 0

/** The values that a schema names, if it does. */
function valuesOf (schema: Members): unknown[] | undefined {
  return 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
}

const namesIn = (required: unknown): string[] => Array.isArray(required) ? required as string[] : []

function withoutKeys (all: Members, keys: Members): Members {
  return Object.fromEntries(Object.entries(all).filter(([key]) => !Object.hasOwn(keys, key)))
}
