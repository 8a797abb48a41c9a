import { selfDescription } from '../../protocol/revisions/client-side.js'
import type { Implementation, Revision } from '../../protocol/revisions/revision.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { META, metaOf } from '../../protocol/wire/meta.js'
import type { UpstreamRequest } from '../ports.js'

/** The params as the upstream gets them: with what `_meta` has to say about us, and our progress token. */
export function outgoingParams ({ params, capabilities, logLevel }: UpstreamRequest, revision: Revision, clientInfo: Implementation, progressToken: number | undefined): Params {
  if (!revision.stateless) return progressToken === undefined ? params : { ...params, _meta: { ...metaOf(params), progressToken } }
  const _meta: Params = { ...metaOf(params), ...selfDescription(clientInfo, capabilities) }
  if (progressToken !== undefined) _meta['progressToken'] = progressToken
  if (logLevel !== undefined) _meta[META.logLevel] = logLevel
  return { ...params, _meta }
}
