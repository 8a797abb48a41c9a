import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'

const RESERVED = 'io.modelcontextprotocol/'

/**
 * The params without what belongs to one hop: answers and state of a round, and the keys of `_meta` that the protocol
 * gives a meaning.
 */
export function withoutReserved (params: Params): Params {
  if (!('_meta' in params || 'inputResponses' in params || 'requestState' in params)) return params
  return withoutMembers(params, key => key === 'inputResponses' || key === 'requestState')
}

/** The params without the keys of `_meta` that the protocol gives a meaning; those of vendors and of traces stay. */
export function withoutReservedMeta (params: Params): Params {
  return '_meta' in params ? withoutMembers(params, () => false) : params
}

// Assignments, because V8 makes an object from a rest pattern several times more slowly. A message with the key
// "__proto__" is refused when it is read.
function withoutMembers (params: Params, isLeftOut: (key: string) => boolean): Params {
  const out: Params = {}
  for (const key in params) {
    if (key !== '_meta') { if (!isLeftOut(key)) out[key] = params[key] } else keepMeta(params[key], out)
  }
  return out
}

function keepMeta (meta: unknown, out: Params): void {
  if (!isObject(meta)) return
  let kept: Params | undefined
  for (const key in meta) if (key !== 'progressToken' && !key.startsWith(RESERVED)) (kept ??= {})[key] = meta[key]
  if (kept !== undefined) out['_meta'] = kept
}
