import { randomFillSync } from 'node:crypto'

/** Random bytes in stock: the system takes about as long for a few as for many. */
const stock = Buffer.alloc(4_096)
let used = stock.length

/** That many cryptographically random bytes as text, at most as many as are kept in stock. None is given out twice. */
export function randomToken (bytes: number, encoding: 'hex' | 'base64url'): string {
  if (used + bytes > stock.length) {
    randomFillSync(stock)
    used = 0
  }
  const token = stock.toString(encoding, used, used + bytes)
  stock.fill(0, used, used + bytes)
  used += bytes
  return token
}
