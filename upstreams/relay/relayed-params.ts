import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'

const RESERVED = 'io.modelcontextprotocol/'

/** The params of a call under the upstream's own name, without what asks for a task of ours. */
export function namingTool (name: string, params: Params): Params {
  const out: Params = { name }
  for (const key in params) if (key !== 'name' && key !== 'task') out[key] = params[key]
  return out
}

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

/** The members of calls that a person is shown before one is approved, and the keys of `_meta` that carry a trace. */
const SHOWN = new Set(['name', 'arguments', 'uri'])
const TRACES = new Set(['traceparent', 'tracestate', 'baggage'])

/** The params of a call that a person approved: nothing that was not shown, besides its trace. */
export function shownOnly (params: Params): Params {
  const shown = Object.entries(params).filter(([key]) => SHOWN.has(key))
  const traces = Object.entries(Object(params['_meta']) as Params).filter(([key]) => TRACES.has(key))
  return { ...Object.fromEntries(shown), ...traces.length > 0 && { _meta: Object.fromEntries(traces) } }
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
