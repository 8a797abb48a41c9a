import { selfDescription } from '../../protocol/revisions/client-side.js'
import type { Implementation, Revision } from '../../protocol/revisions/revision.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { META, metaOf } from '../../protocol/wire/meta.js'
import type { UpstreamRequest } from '../ports.js'

/** Keys with this prefix describe the sender of one hop, as `progressToken` does. */
const RESERVED = 'io.modelcontextprotocol/'

/** The params as the upstream gets them: keys of `_meta` that belong to the client's hop are left out, and those of ours are added. */
export function outgoingParams ({ params, capabilities, logLevel }: UpstreamRequest, revision: Revision, clientInfo: Implementation, progressToken: number | undefined): Params {
  const _meta: Params = {}
  for (const [key, value] of Object.entries(metaOf(params))) if (!key.startsWith(RESERVED) && key !== 'progressToken') _meta[key] = value
  if (progressToken !== undefined) _meta['progressToken'] = progressToken
  if (revision.stateless) {
    Object.assign(_meta, selfDescription(clientInfo, capabilities))
    if (logLevel !== undefined) _meta[META.logLevel] = logLevel
  }
  if (Object.keys(_meta).length > 0) return { ...params, _meta }
  if (!('_meta' in params)) return params
  const { _meta: dropped, ...rest } = params
  return rest
}
