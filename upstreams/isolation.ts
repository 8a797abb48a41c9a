import type { Call } from '../protocol/dispatch/call.js'
import type { Peer } from '../protocol/peer/peer.js'
import type { ServerEntry } from './server-entry.js'

/** Who shares a connection with a call: `undefined` for all callers, a principal, or the session or connection of the client. */
export type IsolationKey = string | Peer | undefined

/**
 * By the entry's `isolate`. A stateless HTTP request, or one of `POST /message`, belongs to no session, so its principal stands for that: a
 * process for each request would be cheap to ask for and dear to give. All anonymous callers are one principal.
 */
export function isolationKey (isolate: ServerEntry['isolate'], { peer, principal, revision }: Pick<Call, 'peer' | 'principal' | 'revision'>): IsolationKey {
  if (isolate === 'none') return undefined
  const hasSession = peer.channel !== undefined && (!revision.stateless || peer.transport !== 'http')
  return isolate === 'session' && hasSession ? peer : principal ?? ''
}
