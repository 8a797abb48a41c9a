import type { ListedKey } from '../../../system/credentials/api-key.js'
import { hashOf } from '../../../system/credentials/api-key.js'
import { WHO, type Who } from '../case.js'

export const KEYS: Record<Who, string> = {
  ada: 'pb_ada-fuzzed-0123456789-0123456789-01234567',
  bob: 'pb_bob-fuzzed-0123456789-0123456789-01234567'
}

/** Part of every text that belongs to a caller: what has it may reach that caller only. */
export const MARKS: Record<Who, string> = { ada: 'of-ada-Kq7w', bob: 'of-bob-Zx3v' }

/**
 * Bob may read notes, so that nothing but their owner keeps Ada's from him; he may write none, nor use what takes that
 * right.
 */
export const API_KEYS: ListedKey[] = [
  { name: 'ada', hash: hashOf(KEYS.ada), scopes: ['mcp', 'notes'] },
  { name: 'bob', hash: hashOf(KEYS.bob), scopes: ['mcp', 'notes:read'] }
]

/** What neither a reply nor a line of the log may have. */
export const SECRETS = [...Object.values(KEYS), ...API_KEYS.map(({ hash }) => hash.slice('sha256:'.length))]

export const otherThan = (who: Who): Who => who === WHO[0] ? WHO[1] : WHO[0]

/** What stands for credentials in requests that are generated: the right one, and those that are nearly right. */
export const CREDENTIALS: Record<string, (key: string) => string> = {
  key: key => key,
  wrong_key: key => `${key.slice(0, -1)}8`,
  short_key: key => key.slice(0, -1),
  long_key: key => `${key}0`,
  upper_key: key => key.toUpperCase(),
  huge_key: key => key.repeat(150),
  hash: key => hashOf(key),
  digest: key => hashOf(key).slice('sha256:'.length)
}
