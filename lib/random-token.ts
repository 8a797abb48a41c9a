import { randomFillSync } from 'node:crypto'

/** Fetching many random bytes costs hardly more than a few, so they are pooled. */
const pool = Buffer.allocUnsafeSlow(4_096)
let used = pool.length

/** That many cryptographically random bytes as text. */
export function randomToken (bytes: number, encoding: 'hex' | 'base64url'): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const from = used
  used += bytes
  const text = pool.toString(encoding, from, used)
  // So that a token is not in memory twice.
  pool.fill(0, from, used)
  return text
}
