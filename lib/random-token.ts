import { randomFillSync } from 'node:crypto'

/** Many random bytes cost hardly more than a few, so they are fetched together. */
const pool = Buffer.allocUnsafeSlow(4_096)
let used = pool.length

/** That many random bytes as text, which nobody guesses. */
export function randomToken (bytes: number, encoding: 'hex' | 'base64url'): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const from = used
  used += bytes
  const text = pool.toString(encoding, from, used)
  // What was given away is not kept.
  pool.fill(0, from, used)
  return text
}
