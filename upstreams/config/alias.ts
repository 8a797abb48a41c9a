import { createHash } from 'node:crypto'

/** The longest alias, so that `alias__tool` leaves enough characters to the tool. */
const LONGEST = 32

/**
 * The name of a server in names of tools and in URLs: lower-case letters, digits and single dashes, first a letter.
 * Depends on the key alone.
 */
export function aliasOf (key: string): string {
  const words = key.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '')
  const alias = words === '' ? `server-${hashOf(key)}` : /^[a-z]/.test(words) ? words : `server-${words}`
  return alias.length <= LONGEST ? alias : `${alias.slice(0, LONGEST - 7).replace(/-+$/, '')}-${hashOf(key)}`
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 6)
