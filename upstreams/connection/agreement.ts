import { SHOWS_APPS } from '../../protocol/definitions/app.js'
import { withTimeout } from '../../lib/time.js'
import {
  initializeParams,
  isModernCode,
  negotiateRevision,
  selfDescription,
  findModern,
  supportsHandshake
} from '../../protocol/revisions/client-side.js'
import type { Implementation, Revision } from '../../protocol/revisions/revision.js'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import { hopsIn, MARKED, RingFound } from '../hops.js'
import type { UpstreamRequest, UpstreamServer } from '../ports.js'
import type { ServerEntry } from '../server-entry.js'
import { RequestFailed } from './failure.js'
import type { UpstreamPeer } from './upstream-peer.js'

/** The findings about a server: the revision to speak with it, and what it said about itself. */
export interface Agreement { readonly revision: Revision, readonly server: UpstreamServer }

/**
 * How we present ourselves; `version` is that of `initialize`, where the entry chooses one, and `hop` the id of our hop
 * to the server.
 */
export interface Self {
  readonly alias: string
  readonly hop?: string | undefined
  readonly clientInfo: Implementation
  readonly capabilities: object
  readonly version?: string | undefined
}

const UNKNOWN_VERSION = 'it answered initialize with a version of the protocol that Patchbay does not know'

const RESULT_TYPES = new Set<unknown>([undefined, 'complete', 'input_required'])

/** How long `server/discover` is waited for after an `initialize` that was refused. */
const LAST_WAIT = 3_000
/** How long it is waited for after an `initialize` that was answered, since answers may come in another order. */
const LATE_WAIT = 500

/**
 * HTTP statuses with which a server wants a credential or less to do: they say nothing about its era, and it is not
 * asked anything else.
 */
const refuses = (status: number): boolean => [401, 403, 407, 408, 429].includes(status)

/** HTTP statuses of a server that is not well, or takes `server/discover` so badly that it seems so. */
const fails = (status: number): boolean => status >= 500
const saysNothing = (status: number): boolean => refuses(status) || fails(status)

/** True for the error of a server that answered with an HTTP status of its own failure. */
export const isFailure = (error: unknown): boolean => error instanceof RequestFailed && fails(error.status ?? 0)

/** Sends `initialize` and, when the server has answered, `notifications/initialized`. */
export async function initialize (peer: UpstreamPeer, self: Self): Promise<Agreement> {
  return confirm(peer, self, await handshake(peer, self))
}

/** Sends `server/discover` alone. */
export async function agreeWithoutHandshake (peer: UpstreamPeer, self: Self): Promise<Agreement> {
  const found = await discover(peer, self, true)
  if (found === undefined || found === 'unwell') {
    throw errors.upstreamFailed(self.alias, 'it does not answer server/discover as servers without a handshake do')
  }
  return confirm(peer, self, found)
}

/**
 * Finds out whether a server needs a handshake: `server/discover`, and `initialize` behind it if that is not answered
 * when `silence` settles. `isModern` is true where the server needed none before. Undefined for a server that needs
 * none and has begun a session by then, so that it is spoken to on a new link. `onLate` runs when a server turns out to
 * need none after all of this.
 */
export async function probe (
  peer: UpstreamPeer,
  self: Self,
  silence: Promise<unknown>,
  isModern: boolean,
  onLate: () => void
): Promise<Agreement | undefined> {
  const discovery = discover(peer, self, isModern)
  const found = await Promise.race([discovery, silence.then(() => 'silent' as const)])
  if (found === undefined) return await initialize(peer, self)
  if (found === 'unwell') return await initializeUnwell(peer, self)
  if (found !== 'silent') return confirm(peer, self, found)
  return await initializeBehind(peer, self, discovery.then(late => late === 'unwell' ? undefined : late), onLate)
}

/** Sends `initialize` to a server that failed to answer `server/discover`, and asks once more if it is well by then. */
async function initializeUnwell (peer: UpstreamPeer, self: Self): Promise<Agreement | undefined> {
  const agreement = await handshake(peer, self)
  const found = await within(LAST_WAIT, discover(peer, self, false).catch(() => undefined))
  return typeof found === 'object' ? undefined : confirm(peer, self, agreement)
}

/** Sends `initialize` behind a `server/discover` that is not answered yet. */
async function initializeBehind (
  peer: UpstreamPeer,
  self: Self,
  discovery: Promise<Agreement | undefined>,
  onLate: () => void
): Promise<Agreement | undefined> {
  let isAnswered = false
  const initialized = handshake(peer, self).then(agreement => {
    isAnswered = true
    return agreement
  })
  const refused = initialized.then(() => false, () => true)
  const afterRefusal = initialized.catch(async error => await discoveryAfter(error, discovery))
  const first = await Promise.race([discovery, afterRefusal])
  if (first?.revision.stateless === true) {
    // Where each request has a stream of its own, an `initialize` without an answer has begun nothing.
    const isFresh = peer.transport === 'http' ? !isAnswered : (await within(LAST_WAIT, refused)) === true
    return isFresh ? confirm(peer, self, first) : undefined
  }
  const agreement = await initialized
  const late = await within(LATE_WAIT, discovery.catch(() => undefined))
  if (late !== undefined && late !== 'late') return undefined
  if (late === 'late') discovery.then(found => { if (found !== undefined) onLate() }, () => {})
  return confirm(peer, self, agreement)
}

/**
 * Undefined for a server that does not know `server/discover`; `unwell` for one that does not answer it as MCP servers
 * do, unless it `mustKnow` it.
 */
async function discover (
  peer: UpstreamPeer,
  { alias, clientInfo }: Self,
  mustKnow: boolean
): Promise<Agreement | 'unwell' | undefined> {
  const ofHttp = peer.transport === 'http'
  const request = {
    method: 'server/discover',
    params: { _meta: { ...selfDescription(clientInfo), ...MARKED } },
    ...(ofHttp ? { failsOn: saysNothing } : {})
  }
  const result = await peer.request(request).catch((error: unknown) => {
    if (peer.closed) throw error
    if (isMcpError(error)) return isModernCode(error.code) ? refusedDiscovery(alias, error.code, error.data) : undefined
    if (!ofHttp || !(error instanceof RequestFailed)) return undefined
    const { status } = error
    if (status === undefined || refuses(status) || (mustKnow && saysNothing(status))) throw error
    return fails(status) || status < 300 ? 'unwell' : undefined
  })
  return typeof result === 'object' ? discovered(alias, result) : result
}

function discovered (alias: string, result: Params): Agreement | undefined {
  const { supportedVersions } = result
  if (!Array.isArray(supportedVersions)) return undefined
  const revision = findModern(supportedVersions)
  if (revision !== undefined) return { revision, server: serverOf(result) }
  if (supportsHandshake(supportedVersions)) return undefined
  throw errors.upstreamFailed(alias, 'it supports no version of the protocol that Patchbay knows')
}

function refusedDiscovery (alias: string, code: number, data: unknown): undefined {
  if (supportsHandshake(isObject(data) ? data.supported : undefined)) return undefined
  throw errors.upstreamFailed(alias, `it refused server/discover with error ${code}`)
}

async function handshake (peer: UpstreamPeer, { alias, clientInfo, capabilities, version }: Self): Promise<Agreement> {
  // Never cancelled: the specification forbids that for initialize.
  const params = { ...initializeParams(clientInfo, capabilities, version), _meta: MARKED }
  const result = await peer.request({ method: 'initialize', params }).catch((error: unknown) => {
    throw isMcpError(error) && !peer.closed
      ? new Error(`it refused initialize with error ${error.code}: ${error.message}`, { cause: error })
      : error
  })
  const revision = negotiateRevision(result)
  if (revision === undefined) throw errors.upstreamFailed(alias, UNKNOWN_VERSION)
  return { revision, server: serverOf(result) }
}

/** Throws for a server that is part of a ring. */
function confirm (peer: UpstreamPeer, { hop }: Self, agreement: Agreement): Agreement {
  if (hop !== undefined && agreement.server.hops?.includes(hop) === true) throw new RingFound()
  peer.setRevision(agreement.revision)
  if (!agreement.revision.stateless) peer.notify('notifications/initialized')
  return agreement
}

function serverOf (result: Params): UpstreamServer {
  const { capabilities, instructions } = result
  const hops = hopsIn(result)
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    ...(hops === undefined ? {} : { hops })
  }
}

/** A server without a handshake may refuse `initialize` before it answers `server/discover`. */
async function discoveryAfter (refusal: unknown, discovery: Promise<Agreement | undefined>): Promise<Agreement> {
  const found = await within(LAST_WAIT, discovery)
  if (found === undefined || found === 'late') throw refusal
  return found
}

const within = async <T>(ms: number, promise: Promise<T>): Promise<T | 'late'> =>
  await withTimeout(promise, ms, () => 'late' as const)

/**
 * The capabilities that a server with a handshake gets. They are fixed before it is known who will call, so roots are
 * those of the configuration, and apps are declared for the clients among them that show some.
 */
export function capabilitiesOf ({ elicitation, sampling, roots }: ServerEntry): object {
  return {
    ...(elicitation ? { elicitation: { form: {}, url: {} } } : {}),
    ...(sampling ? { sampling: {} } : {}),
    ...(roots === undefined ? {} : { roots: {} }),
    ...SHOWS_APPS
  }
}

/**
 * Throws when a stateless upstream answered a method with a kind of result that is not known, or that the method does
 * not allow.
 */
export function checkResultType (
  type: unknown,
  { method, capabilities }: UpstreamRequest,
  revision: Revision,
  upstream: string
): void {
  if (type === 'task' && method === 'tools/call' && capabilities?.extensions !== undefined) return
  if (!RESULT_TYPES.has(type)) throw errors.upstreamFailed(upstream, `it answered ${method} with an unknown resultType`)
  if (type === 'input_required' && !revision.mayRequestInput(method)) {
    throw errors.upstreamFailed(upstream, `it answered ${method} with input_required, which that method does not allow`)
  }
}
