import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { canonicalJson } from '../protocol/wire/json.js'
import type { Address, ServerEntry } from './server-entry.js'

/**
 * A hash of what tells one server from another. Environment, headers, and the user and query of a URL are left out: they may be secret. The
 * working directory of the gateway, `here`, counts only where a path depends on it.
 */
export function identityOf ({ address }: Pick<ServerEntry, 'address'>, here = resolve('.')): string {
  const parts = address.kind === 'stdio' ? [address.command, address.args, address.cwd ?? (hasRelativePath(address) ? here : null)] : [withoutSecrets(address.url)]
  return createHash('sha256').update(canonicalJson(parts)).digest('base64url').slice(0, 22)
}

function hasRelativePath ({ command, args }: Extract<Address, { kind: 'stdio' }>): boolean {
  return [command, ...args].some(word => word.startsWith('.'))
}

function withoutSecrets (url: string): string {
  const { origin, pathname } = URL.canParse(url) ? new URL(url) : { origin: url, pathname: '' }
  return origin + pathname
}
