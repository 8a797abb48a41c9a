import { errors } from './errors.js'
import type { Request } from './jsonrpc.js'
import { checkHeaders } from './mirrored-headers.js'
import type { Peer } from './peer.js'
import { checkMeta } from './revisions/meta.js'
import type { Revision } from './revisions/revision.js'
import { claimedRevision, claimedVersion, claimsVersion, isModern, negotiate, newestStateful } from './revisions/table.js'

/** What may be asked before the handshake. */
const BEFORE_HANDSHAKE = new Set(['initialize', 'ping'])

/** The revision that answers this request: named by the request itself, or agreed with its peer. */
export function revisionOf (request: Request, peer: Peer): Revision {
  checkMeta(request.params)
  if (claimsVersion(request.params) || isModern(peer.claim)) return selfDescribed(request, peer)
  if (request.method === 'initialize') return negotiate(request.params.protocolVersion)
  return peer.revision ?? newestStateful
}

/** Refuses what the state of the peer does not allow. */
export function admit (request: Request, peer: Peer): void {
  if (peer.inbound.has(request.id)) throw errors.invalidRequest(`a request with the id ${JSON.stringify(request.id)} is still being answered`)
  if (claimsVersion(request.params)) return
  if (request.method === 'initialize' && peer.greeted) throw errors.invalidRequest('initialize was answered already')
  if (peer.revision === undefined && !BEFORE_HANDSHAKE.has(request.method)) throw errors.invalidRequest('send initialize first')
}

// The order of these checks is the order of refusals that clients rely on to find out which era they talk to.
function selfDescribed (request: Request, { headers }: Peer): Revision {
  const version = claimedVersion(request.params)
  if (headers !== undefined) checkHeaders.version(headers, version)
  const revision = claimedRevision(version)
  if (headers !== undefined) checkHeaders.message(headers, request)
  return revision
}
