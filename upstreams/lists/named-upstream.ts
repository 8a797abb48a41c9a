import type { Call } from '../../protocol/dispatch/call.js'
import { DEFAULT_SCOPES, grants } from '../../protocol/wire/identity.js'
import { isObject } from '../../protocol/wire/json.js'
import type { ServerEntry } from '../server-entry.js'
import { prefixesOf } from './offers/names.js'
import { qualifiedUri } from './offers/resource-definitions.js'

/** True when the request of a client can only mean this upstream, by the view or by the name, and the client may use it. */
export function isNamedBy ({ peer: { view }, identity, params }: Call, { alias, prefix, scopes = DEFAULT_SCOPES }: ServerEntry): boolean {
  if (!grants(identity, scopes)) return false
  if (view !== undefined) return view === alias
  const { name, uri } = isObject(params.ref) ? params.ref : params
  const { whole, short } = prefixesOf({ alias, prefix })
  return startsWith(name, whole) || startsWith(name, short) || startsWith(uri, qualifiedUri(alias, ''))
}

/** Without a prefix every name would fit. */
const startsWith = (text: unknown, prefix: string): boolean => prefix !== '' && typeof text === 'string' && text.startsWith(prefix)
