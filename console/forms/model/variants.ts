import type { Json } from '../../client/contract.js'
import { MAX_DEPTH } from './initial.js'
import { membersOf } from './members.js'
import { shapeOf, type Shape } from './shape.js'
import { Typed, toJson, type Fields, type Value } from './value.js'

/** The variant that a value looks like most; among equals the one that was chosen before. */
export function pickVariant (schemas: Json[], value: Value | undefined, root: Json, before = 0): number {
  const scores = schemas.map(schema => likeness(shapeOf(schema, root), value, root, 0))
  const best = Math.max(...scores)
  return scores[before] === best ? before : scores.indexOf(best)
}

const UNLIKE = -100

function likeness (shape: Shape, given: Value | undefined, root: Json, depth: number): number {
  const value = given instanceof Typed ? given.value : given
  if (value === undefined || depth > MAX_DEPTH) return 0
  if (value === null) return shape.nullable || shape.kind === 'json' ? 0 : UNLIKE
  switch (shape.kind) {
    case 'text': return typeof value === 'string' ? 1 : UNLIKE
    case 'number': return typeof value === 'number' ? 1 + Number(shape.schema.type === 'integer' && Number.isInteger(value)) : UNLIKE
    case 'choice': return isChoice(shape, value) ? 4 : UNLIKE
    case 'choices': case 'array': return Array.isArray(value) ? 1 : UNLIKE
    case 'object': return value instanceof Map ? objectLikeness(shape, value, root, depth) : UNLIKE
    case 'variants': return Math.max(...shape.variants.map(({ schema }) => likeness(shapeOf(schema, root), value, root, depth + 1)))
    case 'nothing': return UNLIKE
    default: return 0
  }
}

function objectLikeness ({ schema }: Shape, fields: Fields, root: Json, depth: number): number {
  let score = 1
  for (const { name, schema: member, required, declared } of membersOf(schema, fields)) {
    const value = fields.get(name)
    if (!declared) score -= schema.additionalProperties === false ? 4 : 1
    else if (value !== undefined) score += Math.max(-20, likeness(shapeOf(member, root), value, root, depth + 1)) + Number(required)
    else if (required) score -= 1
  }
  return score
}

/** Whether a value is one of the choices. */
export function isChoice ({ choices }: Shape, value: Value): boolean {
  return choiceIndex({ choices }, value) !== -1
}

export function choiceIndex ({ choices }: Pick<Shape, 'choices'>, value: Value | undefined): number {
  if (value === undefined) return -1
  const text = JSON.stringify(toJson(value))
  return choices.findIndex(choice => choice.value === value || JSON.stringify(choice.value) === text)
}
