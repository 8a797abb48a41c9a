import type { Json } from '../../client/contract.js'
import { membersOf } from './members.js'
import { shapeOf } from './shape.js'
import { Typed, fromJson, type Fields, type Value } from './value.js'

/** Deeper than this a form has boxes for JSON, and nothing is filled in by itself. */
export const MAX_DEPTH = 8

/** More fields than this are not filled in by themselves: a schema that requires itself ten times has millions. */
const MAX_NODES = 1_000

interface Budget { left: number }

/**
 * The value of a field before it was touched: its default, its constant, the required members of an object. Undefined
 * where it is left out.
 */
export function initialValue (
  schema: Json | undefined,
  root: Json,
  required: boolean,
  depth = 0,
  budget: Budget = { left: MAX_NODES }
): Value | undefined {
  if (budget.left-- <= 0) return undefined
  const shape = shapeOf(schema, root)
  if (shape.schema.default !== undefined) return fromJson(shape.schema.default)
  if (!required || shape.nullable || depth > MAX_DEPTH) return undefined
  switch (shape.kind) {
    case 'object':
      return initialFields(schema, root, depth, budget)
    case 'array':
    case 'choices':
      return []
    case 'choice':
      return shape.choices.length === 1 ? fromJson(shape.choices[0]?.value ?? null) : undefined
    case 'variants':
      return initialValue(shape.variants[0]?.schema, root, true, depth + 1, budget)
    default:
      return undefined
  }
}

function initialFields (schema: Json | undefined, root: Json, depth: number, budget: Budget): Fields {
  const fields: Fields = new Map()
  for (const { name, schema: member, required } of membersOf(shapeOf(schema, root).schema, undefined)) {
    if (budget.left <= 0) break
    const value = initialValue(member, root, required, depth + 1, budget)
    if (value !== undefined) fields.set(name, value)
  }
  return fields
}

/** The value of a field when a person asked for one in it, or for one more item. */
export function blankValue (schema: Json | undefined, root: Json, depth = 0): Value {
  const initial = initialValue(schema, root, true, depth)
  if (initial !== undefined && initial !== null) return initial
  const { kind, choices, variants } = shapeOf(schema, root)
  switch (kind) {
    case 'text': return ''
    case 'number': return new Typed('', undefined, 'Write a number.')
    case 'choice': return fromJson(choices[0]?.value ?? null)
    case 'object': return depth > MAX_DEPTH ? new Map() : initialFields(schema, root, depth, { left: MAX_NODES })
    case 'array': case 'choices': return []
    case 'variants': return depth > MAX_DEPTH ? new Map() : blankValue(variants[0]?.schema, root, depth + 1)
    default: return new Typed('', undefined, 'Write a JSON value.')
  }
}
