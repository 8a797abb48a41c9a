import { randomBytes } from 'node:crypto'

/** That many cryptographically random bytes as text. */
export function randomToken (bytes: number, encoding: 'hex' | 'base64url'): string {
  return randomBytes(bytes).toString(encoding)
}
