import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'

const RESERVED = /^io\.modelcontextprotocol\//

/** The params without what belongs to one hop: answers and state of a round, and the keys of `_meta` that the protocol gives a meaning. */
export function withoutReserved ({ inputResponses, requestState, ...params }: Params): Params {
  return withoutReservedMeta(params)
}

/** The params without the keys of `_meta` that the protocol gives a meaning; those of vendors and of traces stay. */
export function withoutReservedMeta ({ _meta, ...params }: Params): Params {
  if (!isObject(_meta)) return params
  const kept = Object.entries(_meta).filter(([key]) => key !== 'progressToken' && !RESERVED.test(key))
  return kept.length === 0 ? params : { ...params, _meta: Object.fromEntries(kept) }
}
