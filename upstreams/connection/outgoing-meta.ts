import { SHOWS_APPS } from '../../protocol/definitions/app.js'
import { NO_CAPABILITIES } from '../../protocol/revisions/client-side.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import type { Id, Params } from '../../protocol/wire/jsonrpc.js'
import { META, metaOf } from '../../protocol/wire/meta.js'
import type { UpstreamRequest } from '../ports.js'

/** The capabilities in requests of our own, such as those for lists. */
const OWN = JSON.stringify(SHOWS_APPS)

/**
 * The params as JSON text for the upstream: with what `_meta` has to say about us, which is `self`, what the client can
 * be asked, and our progress token. Most of that is the same in each request, so it is encoded once and joined as text.
 */
export function encodeParams (
  { params, capabilities, logLevel }: UpstreamRequest,
  revision: Revision,
  self: string,
  progressToken: Id | undefined
): string {
  if (!revision.stateless) {
    return JSON.stringify(
      progressToken === undefined ? params : { ...params, _meta: { ...metaOf(params), progressToken } }
    )
  }
  let meta =
    self +
    (capabilities === undefined ? OWN : capabilities === NO_CAPABILITIES ? '{}' : JSON.stringify(capabilities))
  if (logLevel !== undefined) meta += `,"${META.logLevel}":"${logLevel}"`
  if (progressToken !== undefined) meta += `,"progressToken":${JSON.stringify(progressToken)}`
  return params['_meta'] === undefined
    ? withMeta(params, meta)
    : withMeta(withoutMeta(params), meta + members(metaOf(params)))
}

/** `meta` has no last brace. */
function withMeta (params: Params, meta: string): string {
  const text = JSON.stringify(params)
  return text === '{}' ? `{"_meta":${meta}}}` : `${text.slice(0, -1)},"_meta":${meta}}}`
}

function withoutMeta ({ _meta, ...rest }: Params): Params {
  return rest
}

function members (meta: Readonly<Params>): string {
  const text = JSON.stringify(meta)
  return text === '{}' ? '' : `,${text.slice(1, -1)}`
}
