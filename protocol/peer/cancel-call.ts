import type { Id } from '../wire/jsonrpc.js'
import type { Peer } from './peer.js'

/** Cancels a call of a peer; false if there is none of that id. A handshake cannot be taken back. */
export function cancelCall (peer: Peer, requestId: Id, reason: string | undefined): boolean {
  const call = peer.inbound.get(requestId)
  if (call?.method !== 'initialize') call?.cancel(new Error(reason ?? 'cancelled by the client'))
  return call !== undefined
}
