import type { Json } from '../../client/contract.js'
import { MAX_DEPTH } from './initial.js'
import { membersOf } from './members.js'
import { shapeOf, type Shape } from './shape.js'
import { Typed, toJson, type Fields, type Value } from './value.js'

/**
 * A variant is picked by so many schemas and fields. Variants that contain themselves have more, which are not looked
 * at.
 */
const MAX_LOOKED_AT = 10_000
/** So many choices count as one field. */
const CHOICES_PER_FIELD = 100

interface Search { root: Json, left: number }

/** The variant that a value looks like most; among equals the one that was chosen before. */
export function pickVariant (schemas: Json[], value: Value | undefined, root: Json, before = 0): number {
  const search: Search = { root, left: MAX_LOOKED_AT }
  const scores = schemas.map(schema => likeness(schema, value, search, 0))
  const best = scores.reduce((one, other) => Math.max(one, other), -Infinity)
  return scores[before] === best ? before : scores.indexOf(best)
}

const UNLIKE = -100

function likeness (schema: Json, given: Value | undefined, search: Search, depth: number): number {
  const value = given instanceof Typed ? given.value : given
  if (value === undefined || depth > MAX_DEPTH || search.left-- <= 0) return 0
  const shape = shapeOf(schema, search.root)
  if (value === null) return shape.nullable || shape.kind === 'json' ? 0 : UNLIKE
  switch (shape.kind) {
    case 'text':
      return typeof value === 'string' ? 1 : UNLIKE
    case 'number':
      return typeof value === 'number' ? 1 + Number(shape.schema.type === 'integer' && Number.isInteger(value)) : UNLIKE
    case 'choice':
      return choiceLikeness(shape, value, search)
    case 'choices':
    case 'array':
      return Array.isArray(value) ? 1 : UNLIKE
    case 'object':
      return value instanceof Map ? objectLikeness(shape, value, search, depth) : UNLIKE
    case 'variants':
      return Math.max(...shape.variants.map(variant => likeness(variant.schema, value, search, depth + 1)))
    case 'nothing':
      return UNLIKE
    default:
      return 0
  }
}

function choiceLikeness (shape: Shape, value: Value, search: Search): number {
  search.left -= Math.floor(shape.choices.length / CHOICES_PER_FIELD)
  return isChoice(shape, value) ? 4 : UNLIKE
}

function objectLikeness ({ schema }: Shape, fields: Fields, search: Search, depth: number): number {
  const members = membersOf(schema, fields)
  search.left -= members.length
  let score = 1
  for (const { name, schema: member, required, declared } of members) {
    const value = fields.get(name)
    if (!declared) score -= schema.additionalProperties === false ? 4 : 1
    else if (value !== undefined) score += Math.max(-20, likeness(member, value, search, depth + 1)) + Number(required)
    else if (required) score -= 1
  }
  return score
}

/** True when a value is one of the choices. */
export function isChoice ({ choices }: Shape, value: Value): boolean {
  return choiceIndex({ choices }, value) !== -1
}

export function choiceIndex ({ choices }: Pick<Shape, 'choices'>, given: Value | undefined): number {
  const value = given instanceof Typed ? given.value : given
  if (typeof value !== 'object' || value === null) return choices.findIndex(choice => choice.value === value)
  if (!choices.some(choice => typeof choice.value === 'object')) return -1
  const text = jsonOf(value, () => toJson(value))
  return choices.findIndex(
    choice =>
      typeof choice.value === 'object' && choice.value !== null && jsonOf(choice.value, () => choice.value) === text
  )
}

const texts = new WeakMap<object, string>()

/** The JSON text of an object or a list. Made once, for neither changes. */
function jsonOf (part: object, json: () => Json | undefined): string {
  const text = texts.get(part) ?? JSON.stringify(json()) ?? ''
  texts.set(part, text)
  return text
}
