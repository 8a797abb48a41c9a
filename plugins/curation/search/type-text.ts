import { isObject } from '../../../protocol/wire/json.js'

/** How many schemas are looked into for one type, and how deep. */
const MAX_SCHEMAS = 30
const MAX_DEPTH = 3
const MAX_ALTERNATIVES = 6
const MAX_MEMBERS = 6
const MAX_LENGTH = 120
const MAX_VALUE = 32

const NAMES: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'num',
  boolean: 'bool',
  object: 'obj',
  null: 'null'
}

const nameOf = (type: unknown): string =>
  (typeof type === 'string' && Object.hasOwn(NAMES, type) ? NAMES[type] : undefined) ?? 'any'

/** The text of a type; it is shortened when it says less than the schema. */
export interface TypeText { readonly text: string, readonly isShortened: boolean }

/**
 * Writes the type of a schema in a few characters: `str`, `int[]`, `"open"|"closed"`, `{id*: int, tag: str}`. A `~`
 * marks where it is shortened. References are followed inside of `root`, and circles end like depth.
 */
export function typeOf (schema: unknown, root: unknown): TypeText {
  const writer = new TypeWriter(root)
  const text = writer.write(schema, 0)
  return text.length > MAX_LENGTH
    ? { text: `${coarse(schema)}~`, isShortened: true }
    : { text, isShortened: writer.isShortened }
}

class TypeWriter {
  isShortened = false
  readonly #root: unknown
  #left = MAX_SCHEMAS

  constructor (root: unknown) {
    this.#root = root
  }

  write (schema: unknown, depth: number): string {
    if (!isObject(schema)) return 'any'
    if (this.#left-- <= 0 || depth > MAX_DEPTH) return this.#shorten(coarse(schema))
    if (typeof schema.$ref === 'string') return this.#writeReference(schema.$ref, depth)
    if ('const' in schema) return this.#values([schema.const])
    if (Array.isArray(schema.enum)) return this.#values(schema.enum)
    const union = schema.anyOf ?? schema.oneOf
    if (Array.isArray(union)) return this.#alternatives(union, each => this.write(each, depth + 1))
    if (Array.isArray(schema.allOf)) {
      return schema.allOf.length === 1 ? this.write(schema.allOf[0], depth + 1) : this.#shorten('obj')
    }
    if (Array.isArray(schema.type)) {
      return this.#alternatives(schema.type, type => this.#writeTyped({ ...schema, type }, depth))
    }
    return this.#writeTyped(schema, depth)
  }

  #writeTyped (schema: Record<string, unknown>, depth: number): string {
    if (schema.type === 'array' || (schema.type === undefined && 'items' in schema)) {
      return this.#writeArray(schema, depth)
    }
    if (schema.type === 'object' || isObject(schema.properties)) return this.#writeObject(schema, depth)
    return nameOf(schema.type)
  }

  #writeArray ({ items, prefixItems }: Record<string, unknown>, depth: number): string {
    if (Array.isArray(prefixItems) || Array.isArray(items)) return this.#shorten('any[]')
    const inner = this.write(items, depth + 1)
    return inner.includes('|') ? `(${inner})[]` : `${inner}[]`
  }

  #writeObject ({ properties, required, additionalProperties }: Record<string, unknown>, depth: number): string {
    if (!isObject(properties)) return isObject(additionalProperties) ? this.#shorten('obj') : 'obj'
    const names = firstKeys(properties, MAX_MEMBERS + 1)
    if (names.length === 0) return 'obj'
    if (names.length > MAX_MEMBERS || depth >= MAX_DEPTH) return this.#shorten('obj')
    const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name)
    const members = names.map(
      name =>
        `${/^[\w$-]{1,40}$/.test(name) ? name : JSON.stringify(name.slice(0, 40))}${isRequired(name) ? '*' : ''}: ${this.write(properties[name], depth + 1)}`
    )
    return `{${members.join(', ')}}`
  }

  #writeReference (reference: string, depth: number): string {
    const target = reference === '#' ? this.#root : resolve(this.#root, reference)
    return target === undefined || depth >= MAX_DEPTH ? this.#shorten('any') : this.write(target, depth + 1)
  }

  #alternatives (alternatives: unknown[], write: (each: unknown) => string): string {
    const texts = new Set(alternatives.slice(0, MAX_ALTERNATIVES).map(write))
    // A value that may be absent may be null as well: that says nothing about it.
    if (texts.size > 1) texts.delete('null')
    if (texts.has('any')) return 'any'
    const text = [...texts].join('|')
    return alternatives.length > MAX_ALTERNATIVES ? this.#shorten(text) : text
  }

  #values (values: unknown[]): string {
    const shown = values.slice(0, MAX_ALTERNATIVES * 2).filter(value => !isObject(value) && !Array.isArray(value))
    const texts = shown.map(value => JSON.stringify(typeof value === 'string' ? value.slice(0, MAX_VALUE + 1) : value))
    const isWhole =
      shown.length === values.length &&
      texts.every(text => text.length <= MAX_VALUE) &&
      texts.join('|').length <= MAX_LENGTH
    return isWhole ? texts.join('|') : this.#shorten(typeof values[0] === 'string' ? 'str' : 'any')
  }

  #shorten (text: string): string {
    this.isShortened = true
    return `${text}~`
  }
}

/** The kind of value alone, found without looking inside. */
function coarse (schema: unknown): string {
  if (!isObject(schema)) return 'any'
  const { type, enum: values } = schema
  if (type === 'array') return 'any[]'
  if (typeof type === 'string') return nameOf(type)
  return Array.isArray(values) && typeof values[0] === 'string' ? 'str' : 'any'
}

/** The first keys of an object; the others are not looked at. */
function firstKeys (object: Record<string, unknown>, most: number): string[] {
  const keys: string[] = []
  for (const key in object) {
    if (keys.length === most) break
    keys.push(key)
  }
  return keys
}

/** The part of a schema that a reference like `#/$defs/user` points to; undefined when there is none. */
function resolve (root: unknown, reference: string): unknown {
  if (!reference.startsWith('#/') || reference.length > 200) return undefined
  let place = root
  for (const step of reference.slice(2).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(place) || !Object.hasOwn(place, key)) return undefined
    place = place[key]
  }
  return place
}
