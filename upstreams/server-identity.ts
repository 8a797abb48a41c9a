import { createHash } from 'node:crypto'
import { canonicalJson } from '../protocol/wire/json.js'
import type { ServerEntry } from './server-entry.js'

/** A hash of what tells one server from another. Environment, headers, and the user and query of a URL are left out: they may be secret. */
export function identityOf ({ address }: Pick<ServerEntry, 'address'>): string {
  const parts = address.kind === 'stdio' ? [address.command, address.args, address.cwd ?? null] : [withoutSecrets(address.url)]
  return createHash('sha256').update(canonicalJson(parts)).digest('base64url').slice(0, 22)
}

function withoutSecrets (url: string): string {
  const { origin, pathname } = URL.canParse(url) ? new URL(url) : { origin: url, pathname: '' }
  return origin + pathname
}
