import { allSpellingsOf, spellingsOf } from '../../../lib/uri-spellings.js'
import { canonicalNames, qualifiedUri } from '../../../protocol/definitions/common-members.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import type { Thing } from '../../../protocol/rules/caller-rules.js'
import { isObject } from '../../../protocol/wire/json.js'
import type { Params } from '../../../protocol/wire/jsonrpc.js'
import type { Kind } from '../../core/scopes.js'

/** The members of an item that rules look at. */
interface Item {
  readonly accessName?: string
  readonly scopeNames?: readonly string[]
  readonly upstream?: string
  readonly listed?: { readonly annotations?: unknown }
  readonly toOwnArguments?: (given: Params, inPlace?: unknown) => Params
}

/** An item as rules see it; `uri` is that of a request which a template opens. */
export function thingOf (kind: Kind, key: string, item: object, uri?: string): Thing {
  const { accessName, scopeNames, upstream, listed }: Item = item
  const names = canonicalNames(kind, {
    name: key,
    ...(accessName !== undefined && { accessName }),
    ...(scopeNames !== undefined && { scopeNames })
  })
  const qualify = (spelling: string): string => qualifiedUri(upstream, spelling)
  return {
    names,
    annotations: listed?.annotations,
    ...(uri !== undefined && {
      spellings: { strict: spellingsOf(uri).map(qualify), all: allSpellingsOf(uri).map(qualify) }
    })
  }
}

/** The URI of a request for a resource, whether by its method or by a tool. */
export function uriOf ({ method, params }: Call): string | undefined {
  const { uri }: { uri?: unknown } = method === 'tools/call' ? Object(params.arguments) as object : params
  return typeof uri === 'string' ? uri : undefined
}

/**
 * The arguments of a call as the thing gets them, with `inPlace` of the values that an operator fixed; undefined for
 * those that it will refuse.
 */
export function argumentsOf (kind: Kind, item: object, call: Call, inPlace?: unknown): Params | undefined {
  if (kind === 'resources') return { uri: uriOf(call) }
  const { arguments: given = {} } = call.params
  if (!isObject(given)) return undefined
  const { toOwnArguments }: Item = item
  try {
    return toOwnArguments === undefined ? given : toOwnArguments(given, inPlace)
  } catch {
    return undefined
  }
}
