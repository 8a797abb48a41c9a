import type { Json } from '../../client/contract.js'

/** What each value takes besides its text, so that many small ones count, too. */
const EACH = 8

/** About how many characters a value takes, found without writing it as text. */
export function sizeOf (value: Json): number {
  let size = 0
  const left: Json[] = [value]
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    size += EACH
    if (typeof part === 'string') size += part.length
    else if (Array.isArray(part)) for (const item of part) left.push(item)
    else if (typeof part === 'object' && part !== null) for (const name of Object.keys(part)) { size += name.length; left.push(part[name] ?? null) }
  }
  return size
}
