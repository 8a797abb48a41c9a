import { setTimeout as delay } from 'node:timers/promises'
import { initializeParams, isModernCode, negotiatedRevision, selfDescription, supportedModern, supportsHandshake } from '../../protocol/revisions/client-side.js'
import type { Implementation, Revision } from '../../protocol/revisions/revision.js'
import { errors, isMcpError } from '../../protocol/wire/errors.js'
import { isObject } from '../../protocol/wire/json.js'
import type { Params } from '../../protocol/wire/jsonrpc.js'
import type { UpstreamServer } from '../ports.js'
import { RequestFailed } from './failure.js'
import type { UpstreamPeer } from './upstream-peer.js'

/** What was found out about a server: the revision to speak with it, and what it said about itself. */
export interface Agreement { readonly revision: Revision, readonly server: UpstreamServer }

export interface Self { readonly alias: string, readonly clientInfo: Implementation, readonly capabilities: object }

/** How long `server/discover` is waited for after an `initialize` that was refused. */
const LAST_WAIT = 3_000

/** HTTP statuses that say nothing about the era of a server: it wants a credential, or it is not well. */
const saysNothing = (status: number): boolean => [401, 403, 407, 408, 429].includes(status) || status >= 500

const isOfLegacy = (status: number | undefined): boolean => status !== undefined && status >= 400 && !saysNothing(status)

/** Sends `initialize` and, when the server has answered, `notifications/initialized`. */
export async function initialize (peer: UpstreamPeer, self: Self): Promise<Agreement> {
  return confirm(peer, await handshake(peer, self))
}

/**
 * Finds out whether a server needs a handshake: `server/discover`, and `initialize` behind it if that is not answered within `wait`
 * milliseconds. `remember` gets what `server/discover` says, whenever it comes.
 */
export async function probe (peer: UpstreamPeer, self: Self, wait: number, remember: (modern: boolean) => void): Promise<Agreement> {
  const discovery = discover(peer, self)
  const silence = new AbortController()
  const found = await Promise.race([discovery, delay(wait, 'silent' as const, { ref: false, signal: silence.signal })]).finally(() => silence.abort())
  const agreement = found === undefined ? await initialize(peer, self) : confirm(peer, found === 'silent' ? await initializeBehind(peer, self, discovery) : found)
  remember(agreement.revision.stateless)
  if (found === 'silent') discovery.then(late => { if (late !== undefined) remember(true) }, () => {})
  return agreement
}

/** Sends `initialize` behind a `server/discover` that is not answered yet. */
async function initializeBehind (peer: UpstreamPeer, self: Self, discovery: Promise<Agreement | undefined>): Promise<Agreement> {
  const initialized = handshake(peer, self)
  const first = await Promise.race([discovery, initialized.catch(async error => await discoveryAfter(error, discovery))])
  if (first?.revision.stateless !== true) return await initialized
  // Where one connection is all there is, a server of both eras may have begun a session with `initialize`, and only its answer says so.
  if (peer.transport === 'http') return first
  return await Promise.race([initialized.catch(() => first), delay(LAST_WAIT, first, { ref: false })])
}

/** Undefined for a server that does not know `server/discover`. */
async function discover (peer: UpstreamPeer, { alias, clientInfo }: Self): Promise<Agreement | undefined> {
  const ofHttp = peer.transport === 'http'
  const request = { method: 'server/discover', params: { _meta: selfDescription(clientInfo) }, ...(ofHttp ? { failsOn: saysNothing } : {}) }
  const result = await peer.request(request).catch((error: unknown) => {
    if (peer.closed) throw error
    if (isMcpError(error)) return isModernCode(error.code) ? refusedDiscovery(alias, error.code, error.data) : undefined
    if (ofHttp && error instanceof RequestFailed && !isOfLegacy(error.status)) throw error
    return undefined
  })
  return result === undefined ? undefined : discovered(alias, result)
}

function discovered (alias: string, result: Params): Agreement | undefined {
  const { supportedVersions, capabilities, instructions } = result
  if (!Array.isArray(supportedVersions)) return undefined
  const revision = supportedModern(supportedVersions)
  if (revision !== undefined) return { revision, server: serverOf(capabilities, instructions) }
  if (supportsHandshake(supportedVersions)) return undefined
  throw errors.upstreamFailed(alias, 'it supports no version of the protocol that Patchbay knows')
}

function refusedDiscovery (alias: string, code: number, data: unknown): undefined {
  if (supportsHandshake(isObject(data) ? data.supported : undefined)) return undefined
  throw errors.upstreamFailed(alias, `it refused server/discover with error ${code}`)
}

async function handshake (peer: UpstreamPeer, { alias, clientInfo, capabilities }: Self): Promise<Agreement> {
  // Never cancelled: the specification forbids that for initialize.
  const result = await peer.request({ method: 'initialize', params: initializeParams(clientInfo, capabilities) }).catch((error: unknown) => {
    throw isMcpError(error) && !peer.closed ? new Error(`it refused initialize with error ${error.code}: ${error.message}`, { cause: error }) : error
  })
  const revision = negotiatedRevision(result)
  if (revision === undefined) throw errors.upstreamFailed(alias, 'it answered initialize with a version of the protocol that Patchbay does not know')
  return { revision, server: serverOf(result['capabilities'], result['instructions']) }
}

function confirm (peer: UpstreamPeer, agreement: Agreement): Agreement {
  peer.setRevision(agreement.revision)
  if (!agreement.revision.stateless) peer.notify('notifications/initialized')
  return agreement
}

function serverOf (capabilities: unknown, instructions: unknown): UpstreamServer {
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined
  }
}

/** A server without a handshake may refuse `initialize` before it answers `server/discover`. */
async function discoveryAfter (refusal: unknown, discovery: Promise<Agreement | undefined>): Promise<Agreement> {
  const found = await Promise.race([discovery, delay(LAST_WAIT, undefined, { ref: false })])
  if (found === undefined) throw refusal
  return found
}
