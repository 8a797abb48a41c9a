import type { Json, JsonObject } from '../client/contract.js'
import type { FieldError } from '../forms/check.js'
import { checkInTime } from '../forms/check-in-time.js'

/** Values with more parts are checked only when a person asks: it may take seconds. */
const MAX_PARTS = 5_000
/** How long a person who asks waits at most, in milliseconds. */
const ASKED_MS = 10_000

/** How a result fits the tool's `outputSchema`. */
export type Fit = { type: 'fits' | 'missing' | 'large' | 'late' | 'unknown' } | { type: 'wrong', errors: FieldError[] }

/**
 * Compares a result with its schema. `large`: not checked, since it was not asked for; `late`: not in time; `unknown`:
 * the schema cannot be followed.
 */
export async function fitOf (
  result: JsonObject,
  outputSchema: Json,
  asked: boolean,
  check = checkInTime
): Promise<Fit> {
  const value = result.structuredContent
  if (value === undefined) return { type: 'missing' }
  if (!asked && partsOf(value, MAX_PARTS) > MAX_PARTS) return { type: 'large' }
  const errors = await check(value, outputSchema, asked ? { first: true, ms: ASKED_MS } : {})
  if (typeof errors === 'string') return { type: errors }
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
