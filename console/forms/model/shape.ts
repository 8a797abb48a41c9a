import { isObject, type Json } from '../../client/contract.js'
import { listOf, merge, newWork, resolve, textOf, type Schema, type Work } from './schema.js'

export interface Choice { value: Json, label: string }
interface Variant { name: string, schema: Schema }

/** Which control a schema gets. `json`: a box for JSON, since nothing else would do. `nothing`: no value fits. */
type Kind = 'text' | 'number' | 'choice' | 'choices' | 'object' | 'array' | 'variants' | 'json' | 'nothing'

/** The facts of a schema that a form needs. */
export interface Shape {
  kind: Kind
  schema: Schema
  /** `null` fits, too. */
  nullable: boolean
  /** Of `choice` and `choices`. */
  choices: Choice[]
  /** Of `variants`. */
  variants: Variant[]
}

/** Up to this many choices are shown at once. */
const MAX_RADIOS = 5

/** True for a shape that several controls show, which share a legend instead of a label. */
export function isGroup ({ kind, choices }: Shape): boolean {
  return (
    kind === 'object' ||
    kind === 'array' ||
    kind === 'choices' ||
    kind === 'variants' ||
    (kind === 'choice' && choices.length <= MAX_RADIOS)
  )
}

/**
 * Deeper in itself than this, a schema that is one variant or the item of a list is not looked into: it may go in
 * circles.
 */
const MAX_NESTED = 8
/** More variants than this are of no help to choose from. */
const MAX_VARIANTS = 100

/** The shapes of a root, and how much may still be done for others. */
interface Known { root: Json, work: Work, shapes: WeakMap<object, Shape> }

const known = new WeakMap<object, Known>()

/** The shape of a schema; `root` is where its references lead. What would take too long is of kind `json`. */
export function shapeOf (schema: Json | undefined, root: Json): Shape {
  const owner = isObject(root) ? root : schema
  if (!isObject(schema) || !isObject(owner)) return makeShape(schema, newKnown(root), 0)
  const those = known.get(owner) ?? newKnown(root)
  known.set(owner, those)
  const shape = those.shapes.get(schema) ?? makeShape(schema, those, 0)
  those.shapes.set(schema, shape)
  return shape
}

const newKnown = (root: Json): Known => ({ root, work: newWork(), shapes: new WeakMap() })

function makeShape (given: Json | undefined, those: Known, depth: number): Shape {
  const schema = depth > MAX_NESTED ? {} : follow(given, those)
  const shape: Shape = {
    kind: 'json',
    schema: schema === false ? {} : schema,
    nullable: false,
    choices: [],
    variants: []
  }
  if (schema === false) return { ...shape, kind: 'nothing' }
  if (schema.$ref !== undefined) return shape
  return byEnum(shape) ?? byVariants(shape, those, depth) ?? byType(shape, those, depth)
}

const follow = (schema: Json | undefined, { root, work }: Known): Schema | false => resolve(schema, root, work)

function byEnum (shape: Shape): Shape | undefined {
  const { schema } = shape
  if (schema.const !== undefined) return { ...shape, kind: 'choice', choices: [choiceOf(schema.const, schema.title)] }
  if (!Array.isArray(schema.enum)) return undefined
  const names = listOf(schema.enumNames)
  const choices = schema.enum.map((value, index) => choiceOf(value, names[index]))
  return { ...shape, kind: 'choice', ...withoutNull(choices) }
}

/** `oneOf` or `anyOf`: titled choices, something that may be null, or variants to choose from. */
function byVariants (shape: Shape, those: Known, depth: number): Shape | undefined {
  const { oneOf, anyOf, ...base } = shape.schema
  const listed = Array.isArray(oneOf) ? oneOf : anyOf
  if (!Array.isArray(listed)) return undefined
  if (listed.length > MAX_VARIANTS) return byManyConsts(shape, listed) ?? shape
  const parts = listed.map(part => follow(part, those)).filter(part => part !== false)
  const choice = byConsts(shape, parts)
  if (choice !== undefined) return choice
  const others = parts.filter(part => part.type !== 'null')
  const nullable = shape.nullable || others.length < parts.length
  const [only, ...more] = variantsOf(base, others, those)
  if (only === undefined) return undefined
  if (more.length > 0) return { ...shape, kind: 'variants', nullable, variants: [only, ...more] }
  const inner = makeShape(only.schema, those, depth + 1)
  return { ...inner, nullable: nullable || inner.nullable }
}

function byConsts (shape: Shape, parts: Json[]): Shape | undefined {
  const choices = parts.flatMap(part => {
    const value = isObject(part) ? part.const ?? onlyOf(part.enum) : undefined
    return isObject(part) && value !== undefined ? [choiceOf(value, part.title)] : []
  })
  return choices.length > 0 && choices.length === parts.length
    ? { ...shape, kind: 'choice', ...withoutNull(choices) }
    : undefined
}

const onlyOf = (choices: Json | undefined): Json | undefined =>
  listOf(choices).length === 1 ? listOf(choices)[0] : undefined

/** A shape of many constants, without following references; null may be one of them. */
function byManyConsts (shape: Shape, parts: Json[]): Shape | undefined {
  const others = parts.filter(part => !isObject(part) || part.type !== 'null')
  const choice = byConsts(shape, others)
  return choice && { ...choice, nullable: choice.nullable || others.length < parts.length }
}

function variantsOf (base: Schema, parts: Schema[], those: Known): Variant[] {
  return parts.map((part, index) => {
    const schema = merge(base, part, those.work)
    return { name: nameOf(part, schema, index, those), schema }
  })
}

function byType (shape: Shape, those: Known, depth: number): Shape {
  const { schema } = shape
  if (Array.isArray(schema.type) && schema.type.length > MAX_VARIANTS) return shape
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? guess(schema)]
  const others: Json[] = types.filter(type => type !== 'null' && (type !== 'integer' || !types.includes('number')))
  const nullable = others.length < types.length && types.includes('null')
  if (others.length > 1) {
    return {
      ...shape,
      kind: 'variants',
      nullable,
      variants: others.map(type => ({ name: wordFor(type), schema: { ...schema, type } }))
    }
  }
  return { ...shape, nullable, ...byOneType(others[0] ?? 'null', schema, those, depth) }
}

function byOneType (type: Json, schema: Schema, those: Known, depth: number): Partial<Shape> {
  switch (type) {
    case 'string': return { kind: 'text' }
    case 'number': case 'integer': return { kind: 'number' }
    case 'boolean': return { kind: 'choice', choices: [choiceOf(true, undefined), choiceOf(false, undefined)] }
    case 'null': return { kind: 'choice', choices: [choiceOf(null, undefined)] }
    case 'object': return { kind: 'object' }
    case 'array': return byItems(schema, those, depth)
    default: return { kind: 'json' }
  }
}

function byItems (schema: Schema, those: Known, depth: number): Partial<Shape> {
  if (!isObject(schema.items) || schema.prefixItems !== undefined) return { kind: 'array' }
  const items = follow(schema.items, those)
  if (items === false || items.type === 'array' || items.type === 'object' || items.type === 'boolean') {
    return { kind: 'array' }
  }
  const { kind, choices, nullable } = makeShape(items, those, depth + 1)
  return kind === 'choice' && !nullable ? { kind: 'choices', choices } : { kind: 'array' }
}

function guess (schema: Schema): string {
  const has = (...keywords: string[]) => keywords.some(keyword => schema[keyword] !== undefined)
  if (has('properties', 'required', 'additionalProperties', 'patternProperties')) return 'object'
  if (has('items', 'prefixItems', 'minItems')) return 'array'
  if (has('minLength', 'maxLength', 'pattern', 'format')) return 'string'
  return has('minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum') ? 'number' : 'any'
}

const choiceOf = (value: Json, label: Json | undefined): Choice => ({
  value,
  label: textOf(label) ?? (typeof value === 'string' ? value : JSON.stringify(value))
})

function withoutNull (choices: Choice[]): { choices: Choice[], nullable: boolean } {
  const others = choices.filter(({ value }) => value !== null)
  return others.length === 0
    ? { choices, nullable: false }
    : { choices: others, nullable: others.length < choices.length }
}

/** A field that has one value only, and that value. References are followed for a few fields. */
function constIn ({ properties }: Schema, those: Known): string | undefined {
  const entries = Object.entries(isObject(properties) ? properties : {})
  const words = (name: string, { const: value }: Schema): string | undefined =>
    value === undefined ? undefined : `${name}: ${choiceOf(value, undefined).label}`
  for (const [name, property] of entries) {
    const told = isObject(property) ? words(name, property) : undefined
    if (told !== undefined) return told
  }
  for (const [name, property] of entries.slice(0, MAX_LOOKED_AT)) {
    const told = words(name, follow(property, those) || {})
    if (told !== undefined) return told
  }
  return undefined
}

/** More names of fields do not make a variant clearer. */
const MAX_NAMES = 3
/** A field that tells a variant from the others is looked for among so many. */
const MAX_LOOKED_AT = 20

/** A variant's title, or what tells it from the others. */
function nameOf (own: Schema, merged: Schema, index: number, those: Known): string {
  const title = textOf(own.title)
  if (title !== undefined) return title
  if (own.const !== undefined) return choiceOf(own.const, undefined).label
  const told = constIn(own, those)
  if (told !== undefined) return told
  const needed = listOf(own.required).filter(name => typeof name === 'string')
  const names = needed.length > 0 ? needed : Object.keys(isObject(own.properties) ? own.properties : {})
  if (names.length > 0) return `with ${names.slice(0, MAX_NAMES).join(', ')}`
  const type = merged.type ?? guess(merged)
  return typeof type === 'string' && type !== 'any' && type !== 'object' ? wordFor(type) : `variant ${index + 1}`
}

const TYPE_WORDS = new Map<Json | undefined, string>([
  ['string', 'text'],
  ['number', 'number'],
  ['integer', 'whole number'],
  ['boolean', 'true or false'],
  ['object', 'object'],
  ['array', 'list'],
  ['null', 'null']
])

/** The word of the form for a type of JSON Schema. */
export const wordFor = (type: Json | undefined): string => TYPE_WORDS.get(type) ?? 'any JSON'
