import { isObject } from '../../protocol/wire/json.js'

/** A JSON schema, or a part of one, as a server sent it. */
export type Schema = Readonly<Record<string, unknown>>

const TYPES = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'] as const

/** A type of JSON schema. */
export type TypeName = typeof TYPES[number]

/** The values that one argument can have, as far as a command line has to know. */
export interface Shape {
  /** Empty where anything may be meant. */
  readonly types: ReadonlySet<TypeName>
  /** The values that are allowed, where they are listed, with their titles. */
  readonly choices: ReadonlyArray<{ readonly value: unknown, readonly title?: string }> | undefined
  readonly items: Shape | undefined
  readonly description: string | undefined
  readonly fallback: unknown
}

/** The arguments of a tool, or the fields of a form. */
export interface Fields {
  readonly fields: ReadonlyMap<string, Shape>
  readonly required: ReadonlySet<string>
  /** False where a name that is not listed is a mistake. */
  readonly takesOthers: boolean
}

/** The deepest nesting that is looked into: references may go in circles. */
const MAX_DEPTH = 12
/** The most values that are listed for one argument. */
const MAX_CHOICES = 1_000

/** The fields of an object that a schema describes. Keywords that are not understood are left to the server. */
export function fieldsOf (schema: unknown): Fields {
  const fields = new Map<string, Shape>()
  const required = new Set<string>()
  let takesOthers = true
  const root: Schema = isObject(schema) ? schema : {}
  const shapes = new Shapes(root)
  const [certain, possible] = [new Set<unknown>(), new Set<unknown>()]
  const visit = (part: unknown, isCertain: boolean, depth: number): void => {
    const at = dereference(part, root)
    if (at === undefined || depth > MAX_DEPTH || certain.has(part) || (!isCertain && possible.has(part))) return
    (isCertain ? certain : possible).add(part)
    if (isObject(at['properties'])) {
      for (const [name, inner] of Object.entries(at['properties'])) {
        if (!fields.has(name)) fields.set(name, shapes.of(inner))
      }
      if (at['additionalProperties'] === false && depth === 0) takesOthers = false
    }
    if (isCertain && Array.isArray(at['required'])) {
      for (const name of at['required']) if (typeof name === 'string') required.add(name)
    }
    for (const inner of listOf(at['allOf'])) visit(inner, isCertain, depth + 1)
    for (const inner of [...listOf(at['anyOf']), ...listOf(at['oneOf'])]) visit(inner, false, depth + 1)
  }
  visit(root, true, 0)
  return { fields, required, takesOthers }
}

/** The shapes of the values in a schema, of each part once: its references may multiply with each level. */
class Shapes {
  readonly #root: Schema
  readonly #known = new Map<unknown, Shape>()

  constructor (root: Schema) {
    this.#root = root
  }

  /** A part that refers to itself may be anything. */
  of (schema: unknown, depth = 0): Shape {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const at = depth > MAX_DEPTH ? undefined : dereference(schema, this.#root)
    if (at === undefined) return ANYTHING
    this.#known.set(schema, ANYTHING)
    const shape = this.#read(at, depth)
    this.#known.set(schema, shape)
    return shape
  }

  #read (at: Schema, depth: number): Shape {
    const description = textOf(at['description']) ?? textOf(at['title'])
    const parts = [...listOf(at['anyOf']), ...listOf(at['oneOf']), ...listOf(at['allOf'])]
    const inner = parts.map(part => this.of(part, depth + 1))
    const own = typesOf(at['type'])
    // One part that may be anything makes the whole anything.
    const isOpen = inner.some(part => part.types.size === 0 && part.choices === undefined)
    const types = own.length > 0 ? own : isOpen ? [] : inner.flatMap(part => [...part.types])
    return {
      types: new Set(types),
      choices: choicesOf(at, this.#root) ?? joinChoices(inner),
      items: at['items'] === undefined
        ? inner.find(({ items }) => items !== undefined)?.items
        : this.of(at['items'], depth + 1),
      description: description ?? inner.find(part => part.description !== undefined)?.description,
      fallback: at['default']
    }
  }
}

const ANYTHING: Shape = {
  types: new Set(),
  choices: undefined,
  items: undefined,
  description: undefined,
  fallback: undefined
}

/** The type in words: `string`, `list of numbers`, `integer or null`. */
export function typeInWords ({ types, items, choices }: Shape): string {
  if (types.size === 0) return choices === undefined ? 'any' : ''
  return [...types].map(type => {
    if (type !== 'array') return type
    return items === undefined || items.types.size === 0 ? 'list' : `list of ${typeInWords(items)}`
  }).join(' or ')
}

/** Resolves references inside of the schema; undefined for what is no object, or refers to elsewhere. */
function dereference (schema: unknown, root: Schema): Schema | undefined {
  let at = schema
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    if (!isObject(at)) return undefined
    const { $ref: reference } = at
    if (typeof reference !== 'string') return at
    if (!reference.startsWith('#')) return undefined
    const target = pointTo(reference.slice(1), root)
    if (!isObject(target)) return undefined
    const { $ref: _reference, ...beside } = at
    at = { ...target, ...beside }
  }
  return undefined
}

function pointTo (pointer: string, root: Schema): unknown {
  return pointer.split('/').slice(1).reduce<unknown>((at, step) => {
    const key = safeDecode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    return isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, root)
}

function safeDecode (text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The values of `enum`, of `const`, or of parts that have a `const` and a title each. */
function choicesOf (schema: Schema, root: Schema): Shape['choices'] {
  const { enum: values, enumNames: names } = schema
  if (Array.isArray(values)) {
    return values.map((value, index) => {
      const title = Array.isArray(names) ? textOf(names[index]) : undefined
      return { value, ...(title === undefined ? {} : { title }) }
    })
  }
  if ('const' in schema) {
    const title = textOf(schema['title'])
    return [{ value: schema['const'], ...(title === undefined ? {} : { title }) }]
  }
  for (const parts of [listOf(schema['oneOf']), listOf(schema['anyOf'])]) {
    const found = parts.map(part => dereference(part, root))
    if (found.length > 0 && found.every(part => part !== undefined && 'const' in part)) {
      return found.flatMap(part => (part === undefined ? [] : choicesOf(part, root) ?? []))
    }
  }
  return undefined
}

const NULL = { value: null }

/** The choices of all parts together, where each part has some or is null: a nullable enum. */
function joinChoices (parts: readonly Shape[]): Shape['choices'] {
  const isListed = (part: Shape): boolean =>
    part.choices !== undefined || (part.types.size === 1 && part.types.has('null'))
  if (!parts.some(part => part.choices !== undefined) || !parts.every(isListed)) return undefined
  const choices = new Set(parts.flatMap(part => part.choices ?? [NULL]))
  return choices.size > MAX_CHOICES ? undefined : [...choices]
}

const typesOf = (type: unknown): TypeName[] =>
  (Array.isArray(type) ? type : [type]).filter((name): name is TypeName => (TYPES as readonly unknown[]).includes(name))

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
