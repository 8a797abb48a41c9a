import type { Json, JsonObject } from '../client/contract.js'
import { schemaErrors, type FieldError } from '../forms/check.js'

/** Values with more parts are checked only when a person asks: it may take seconds. */
const MAX_PARTS = 5_000
/** How long a person who asks waits at most, in milliseconds. */
const ASKED_MS = 10_000

/** The outcome of holding a result against the tool's `outputSchema`. */
type Fit = { type: 'fits' | 'missing' | 'large' | 'unknown' } | { type: 'wrong', errors: FieldError[] }

/** `large`: not checked, since it was not asked for. `unknown`: not checked, since the schema cannot be followed, or not in a bearable time. */
export function fitOf (result: JsonObject, outputSchema: Json, asked: boolean): Fit {
  const value = result.structuredContent
  if (value === undefined) return { type: 'missing' }
  if (!asked && partsOf(value, MAX_PARTS) > MAX_PARTS) return { type: 'large' }
  const errors = schemaErrors(value, outputSchema, { patterns: false, first: asked, ...(asked ? { ms: ASKED_MS } : {}) })
  if (errors === undefined) return { type: 'unknown' }
  return errors.length === 0 ? { type: 'fits' } : { type: 'wrong', errors }
}

/** Counts the values in a value, up to one more than `max`. */
function partsOf (value: Json, max: number): number {
  const waiting = [value]
  let count = 0
  for (let part = waiting.pop(); part !== undefined && count <= max; part = waiting.pop()) {
    count++
    if (typeof part === 'object' && part !== null) for (const member of Object.values(part)) waiting.push(member)
  }
  return count
}
