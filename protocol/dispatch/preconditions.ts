import type { ByteBudget } from '../../lib/byte-budget.js'
import { checkHeaders, missingHeaders } from '../http/mirrored-headers.js'
import type { Peer } from '../peer/peer.js'
import type { Revision } from '../revisions/revision.js'
import { declaredVersion, missingMembers, negotiate, newestStateful, statelessRevision } from '../revisions/table.js'
import { errors } from '../wire/errors.js'
import { hasExpired } from '../wire/identity.js'
import { isObject } from '../wire/json.js'
import { isId, type Request } from '../wire/jsonrpc.js'
import type { Limits } from '../wire/limits.js'
import { isLogLevel } from '../wire/log-level.js'
import { META } from '../wire/meta.js'
import type { Call } from './call.js'

/** The methods that may be called before `initialize` is answered. */
const BEFORE_HANDSHAKE = new Set(['initialize', 'ping'])

/** The revision that answers this request: named by the request itself, or agreed with its peer. */
export function resolveRevision (request: Request, peer: Peer, { maxId }: Limits): Revision {
  checkMeta(request, maxId)
  if (request.selfDescribed || peer.revision?.stateless === true) return declaredRevision(request, peer)
  if (request.method === 'initialize') return negotiate(request.params.protocolVersion)
  return peer.revision ?? newestStateful
}

/** Throws when the credential has expired, or when the state of the peer or a limit does not allow the call. */
export function assertAllowed (
  { method, revision, response: { id, size }, peer, identity }: Call,
  { maxInFlight, maxBytesInFlight }: Limits,
  budget: ByteBudget
): void {
  if (hasExpired(identity)) throw errors.expired()
  if (peer.inbound.has(id)) throw errors.idInUse(JSON.stringify(id))
  if (!revision.stateless) {
    // A connection may open its conversation anew, as bridges do that serve one client after the other; HTTP has new
    // sessions for that.
    if (method === 'initialize' && peer.initialized && peer.transport === 'http') {
      throw errors.invalidRequest(
        'initialize was answered already; send it without Mcp-Session-Id to open another session'
      )
    }
    if (peer.revision === undefined && !BEFORE_HANDSHAKE.has(method)) throw errors.notInitialized()
  }
  // A ping is never refused for too many calls: clients use it to check the connection.
  if (method === 'ping') return
  const { inbound } = peer
  if (inbound.size >= maxInFlight) throw errors.tooManyInFlight(maxInFlight)
  // A single call may hold as much as a message may have.
  if (inbound.size > 0 && inbound.bytes + size > maxBytesInFlight) throw errors.tooMuchInFlight(maxBytesInFlight)
  if (!budget.fits(size)) throw errors.tooMuchInAll(budget.max)
}

// The order of these checks is the order of refusals that clients rely on to find out which era they talk to.
function declaredRevision (request: Request, { headers }: Peer): Revision {
  const version = declaredVersion(request)
  if (version === undefined) throw errors.malformedMeta(lacking(request, headers))
  if (headers !== undefined) checkHeaders.version(headers, version, request)
  const revision = statelessRevision(version)
  if (headers !== undefined) checkHeaders.message(headers, request)
  return revision
}

function lacking (request: Request, headers: Peer['headers']): string {
  const missing = headers === undefined ? '' : missingHeaders(headers, request)
  return missing === '' ? missingMembers(request) : `${missingMembers(request)}; in the header, ${missing}`
}

/** Refuses a `_meta` whose known keys do not hold what they must. */
function checkMeta ({ params, meta }: Request, maxId: number): void {
  if (params._meta === undefined) return
  if (!isObject(params._meta)) throw errors.malformedMeta('_meta must be an object')
  const { progressToken, [META.logLevel]: level } = meta
  if (progressToken !== undefined && !isId(progressToken)) {
    throw errors.malformedMeta('_meta.progressToken must be a string or an integer')
  }
  if (typeof progressToken === 'string' && progressToken.length > maxId) {
    throw errors.malformedMeta(`_meta.progressToken must have at most ${maxId} characters`)
  }
  if (level !== undefined && !isLogLevel(level)) {
    throw errors.malformedMeta(`_meta["${META.logLevel}"] is not a log level`)
  }
}
