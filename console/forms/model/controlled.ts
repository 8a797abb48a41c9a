import { MAX_DEPTH } from './initial.js'
import { membersOf } from './members.js'
import { isGroup, type Shape } from './shape.js'
import { Typed, type Value } from './value.js'

/**
 * A list or an object with more parts than this has a box for JSON: a field for each would take the browser seconds.
 */
const MAX_PARTS = 500

/** The shape, or a box for JSON where a value cannot be shown by its control, or would be changed by it. */
export function chooseControl (shape: Shape, value: Value | undefined, depth: number): Shape {
  const box: Shape = { ...shape, kind: 'json' }
  if (depth > MAX_DEPTH && isGroup(shape)) return box
  if (value === undefined || value === null) return shape
  switch (shape.kind) {
    // Fields for text change these to line feeds, or drop them.
    case 'text':
      return typeof value === 'string' && !/[\0-\x08\x0B-\x1F]/.test(value) ? shape : box // eslint-disable-line no-control-regex
    case 'number':
      return typeof value === 'number' || (value instanceof Typed && typeof (value.value ?? 0) === 'number')
        ? shape
        : box
    case 'choices':
    case 'array':
      return Array.isArray(value) && value.length <= MAX_PARTS ? shape : box
    case 'object':
      return value instanceof Map && membersOf(shape.schema, value).length <= MAX_PARTS ? shape : box
    default:
      return shape
  }
}
