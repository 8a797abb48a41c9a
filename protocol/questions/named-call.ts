import { isObject } from '../wire/json.js'
import type { Id } from '../wire/jsonrpc.js'

/** A client declares this under `capabilities.experimental` to be told which of its requests a message belongs to. */
const NAMES_CALLS = 'patchbay/questions'

/** The key of `_meta` that has the id of that request. */
export const REQUEST_ID = 'patchbay/requestId'

/**
 * The params of a question or log message with the id of the call in their `_meta`, for a client that declared that it
 * wants it.
 */
export function namingCall<P extends object | undefined> (
  params: P,
  { id, capabilities: { experimental } }: { readonly id: Id; readonly capabilities: Record<string, unknown> }
): P | object {
  if (!isObject(experimental) || !(NAMES_CALLS in experimental)) return params
  const { _meta } = (params ?? {}) as { _meta?: object }
  return { ...params, _meta: { ..._meta, [REQUEST_ID]: id } }
}
