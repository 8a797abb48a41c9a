import type { Call } from '../../protocol/dispatch/call.js'
import { DEFAULT_SCOPES, grants } from '../../protocol/wire/identity.js'
import { isObject } from '../../protocol/wire/json.js'
import type { ServerEntry } from '../server-entry.js'
import { isPartOf } from './first-reads.js'
import type { MayShow, MissingTool } from './gateway.js'
import { prefixesOf } from './offers/names.js'
import { qualifyUri } from './offers/resource-definitions.js'
import type { UpstreamLists } from './upstream-lists.js'

/**
 * True when the request of a client can only mean this upstream, by the view or by the name, and the client may use it.
 */
export function isNamedBy ({ peer: { view }, identity, params }: Call, entry: ServerEntry, mayShow: MayShow): boolean {
  const { alias, prefix, scopes = DEFAULT_SCOPES } = entry
  if (!grants(identity, scopes) || !mayShow(view, entry)) return false
  if (view === alias) return true
  const { name, uri } = isObject(params.ref) ? params.ref : params
  const { whole, short } = prefixesOf({ alias, prefix })
  return startsWith(name, whole) || startsWith(name, short) || startsWith(uri, qualifyUri(alias, ''))
}

interface Served { readonly lists: Pick<UpstreamLists, 'upstream' | 'offered'> }

/** The tool that a client named, where an upstream that the client may use has it, and it was left out. */
export function findLeftOut (
  name: string,
  call: Call,
  all: Iterable<Served>,
  mayShow: MayShow
): MissingTool | undefined {
  for (const {
    lists: {
      upstream: { entry },
      offered
    }
  } of all) {
    const found = isPartOf(call, entry, mayShow)
      ? offered.tools.leftOut(name, call.peer.view === entry.alias)
      : undefined
    if (found !== undefined) {
      const { name, accessName = name } = found.name
      return { upstream: entry.alias, accessName, scopes: entry.scopes, why: found.why }
    }
  }
  return undefined
}

/** Without a prefix every name would fit. */
const startsWith = (text: unknown, prefix: string): boolean =>
  prefix !== '' && typeof text === 'string' && text.startsWith(prefix)
