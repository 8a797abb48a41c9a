import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../protocol/wire/json.js'
import { TooLarge } from './budget.js'
import type { Members } from './dialects.js'
import { COMPOUND } from './keywords.js'
import type { Links } from './references.js'

/** Keywords whose meaning depends on those that are taken away with a union. */
const DEPENDENT = ['unevaluatedProperties', 'unevaluatedItems'] as const
/** The most schemas that are merged into one. */
const MAX_PARTS = 200
/** The most properties, names and values that are merged, counted each time. */
const MAX_WORK = 5_000
/** How many characters of JSON are as much work as one of them. */
const TEXT = 40

export const isCompound = (schema: Members): boolean => COMPOUND.some(key => schema[key] !== undefined)

/** A schema without unions at its root that allows each object which the given one allows. Throws `TooLarge`. */
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
    const target = this.#links.get(schema)?.target
    const joined = new Joined(own)
    for (const part of [...(target === undefined ? [] : [target]), ...listOf(allOf)]) this.#join(joined, this.run(part))
    for (const union of [anyOf, oneOf]) {
      if (!Array.isArray(union)) continue
      this.#join(joined, this.#unite(listOf(union).filter(mayBeObject).map(branch => this.run(branch))))
    }
    return joined.schema()
  }

  #join (joined: Joined, part: Members): void {
    this.#count(joined.add(part))
  }

  #count (more: number): void {
    this.#work += more
    if (this.#work > MAX_WORK) throw new TooLarge()
  }

  /** The properties of all branches. One that a branch does not mention may be anything there, unless it is closed. */
  #unite (branches: readonly Members[]): Members {
    const [first, ...others] = branches
    if (first === undefined) return {}
    if (others.length === 0) return first
    const names = new Set(branches.flatMap(({ properties }) => isObject(properties) ? Object.keys(properties) : []))
    this.#count(names.size * branches.length)
    for (const { required } of branches) this.#count(namesIn(required).length)
    const properties: Members = {}
    for (const name of names) {
      properties[name] = this.#oneOfThese(branches.flatMap(branch => alternatives(branch, name)))
    }
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
    if (!values.every(list => list !== undefined)) {
      return { anyOf: [...different.filter(schema => !isEmpty(schema)), ...different.filter(isEmpty)] }
    }
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

/** Keywords with members that are joined one by one. */
const JOINED_BY_NAME: ReadonlySet<string> =
  new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentRequired', 'dependentSchemas'])
/** The parts of a condition belong together. */
const CONDITION: ReadonlySet<string> = new Set(['if', 'then', 'else'])

/** A schema that asks for what several ask for, or less. The first has the word where more say something of a thing. */
class Joined {
  readonly #schema: Members
  /** Copies of members that belong to one of the schemas: they are made once, and others are added in place. */
  readonly #copies = new Map<string, Members>()
  readonly #required: Set<string>

  /** `own` is changed. */
  constructor (own: Members) {
    this.#schema = own
    this.#required = new Set(namesIn(own.required))
    for (const key of DEPENDENT) delete own[key]
  }

  /** Adds a schema; returns how many members and names were looked at. */
  add (part: Members): number {
    const schema = this.#schema
    let looked = 0
    if (schema.if === undefined) for (const key of CONDITION) this.#take(key, part[key])
    for (const key in part) {
      looked++
      const value = part[key]
      const known = Object.hasOwn(schema, key) ? schema[key] : undefined
      if (CONDITION.has(key) || key === 'required' || value === undefined) continue
      if (known === undefined) schema[key] = value
      else if (JOINED_BY_NAME.has(key) && isObject(known) && isObject(value)) {
        looked += this.#addByName(key, known, value)
      }
    }
    for (const key of DEPENDENT) delete schema[key]
    const names = namesIn(part.required)
    for (const name of names) this.#required.add(name)
    return looked + names.length
  }

  schema (): Members {
    if (this.#required.size > 0) this.#schema.required = [...this.#required]
    return this.#schema
  }

  #take (key: string, value: unknown): void {
    if (value === undefined) delete this.#schema[key]
    else this.#schema[key] = value
  }

  #addByName (key: string, known: Members, more: Members): number {
    let looked = 0
    let copy = this.#copies.get(key)
    if (copy === undefined) {
      copy = { ...known }
      looked += Object.keys(copy).length
      this.#copies.set(key, copy)
      this.#schema[key] = copy
    }
    for (const name in more) {
      looked++
      if (!Object.hasOwn(copy, name)) copy[name] = more[name]
    }
    return looked
  }
}

/** `true` allows everything; `false`, which allows nothing, may be taken for it. */
const listOf = (schemas: unknown): Members[] =>
  Array.isArray(schemas) ? schemas.map(schema => isObject(schema) ? schema : {}) : []

function mayBeObject ({ type }: Members): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function alternatives (branch: Members, name: string): Members[] {
  const { properties } = branch
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(own) ? [own] : isClosed(branch) ? [] : [{}]
}

const isClosed = ({ additionalProperties, patternProperties }: Members): boolean =>
  additionalProperties === false && patternProperties === undefined

const isEmpty = (schema: Members): boolean => Object.keys(schema).length === 0

/** The values that a schema names, if it does. */
function valuesOf (schema: Members): unknown[] | undefined {
  return 'const' in schema ? [schema.const] : Array.isArray(schema.enum) ? schema.enum : undefined
}

const namesIn = (required: unknown): string[] => Array.isArray(required) ? required as string[] : []
