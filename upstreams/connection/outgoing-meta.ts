import { withCapabilities } from '../../protocol/revisions/client-side.js'
import type { Revision } from '../../protocol/revisions/revision.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { META, metaOf } from '../../protocol/wire/meta.js'
import type { UpstreamRequest } from '../ports.js'

/** The params as the upstream gets them: with what `_meta` has to say about us, which is `self` and what the client can be asked, and our progress token. */
export function outgoingParams ({ params, capabilities, logLevel }: UpstreamRequest, revision: Revision, self: Params, progressToken: number | undefined): Params {
  if (!revision.stateless) return progressToken === undefined ? params : { ...params, _meta: { ...metaOf(params), progressToken } }
  const described = withCapabilities(self, capabilities)
  if (params['_meta'] === undefined && progressToken === undefined && logLevel === undefined) return { ...params, _meta: described }
  const _meta: Params = { ...metaOf(params), ...described }
  if (progressToken !== undefined) _meta['progressToken'] = progressToken
  if (logLevel !== undefined) _meta[META.logLevel] = logLevel
  return { ...params, _meta }
}
