import { isLoopback } from '../../lib/network.js'
import type { Call } from '../../protocol/dispatch/call.js'

/** Callers without an address: the client on standard input, and programs in this process. */
const LOCAL = 'local'

/**
 * The client of a call: its peer. A stateless HTTP request has a peer of its own, so there the caller stands for the
 * client: its principal, or the connection of an anonymous caller on this machine, unless a proxy may have brought
 * others.
 */
export function clientOf (call: Pick<Call, 'peer' | 'identity' | 'revision' | 'forwarded'>): object | string {
  const { peer, identity: { principal, address }, revision } = call
  if (!revision.stateless || peer.transport !== 'http') return peer
  if (principal !== undefined) return principal
  return address !== undefined && isLoopback(address) && !call.forwarded ? peer.connection ?? peer : peer
}

/** The caller of a call, as it is counted where callers share something: its principal, or its address. */
export function callerOf ({ identity: { principal, address } }: Pick<Call, 'identity'>): string {
  return principal === undefined ? address ?? LOCAL : `principal ${principal}`
}
