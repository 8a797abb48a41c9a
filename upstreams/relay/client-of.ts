import type { Call } from '../../protocol/dispatch/call.js'

/** One object for each principal whose calls are running, so that objects can be compared. */
const principals = new Map<string, WeakRef<object>>()
const forgotten = new FinalizationRegistry<string>(principal => {
  if (principals.get(principal)?.deref() === undefined) principals.delete(principal)
})

/** The client of a call: its peer. A stateless HTTP request has a peer of its own, so there the principal stands for the client, if it has one. */
export function clientOf ({ peer, principal, revision }: Pick<Call, 'peer' | 'principal' | 'revision'>): object {
  if (!revision.stateless || peer.transport !== 'http' || principal === undefined) return peer
  return principals.get(principal)?.deref() ?? remember(principal)
}

function remember (principal: string): object {
  const client = {}
  principals.set(principal, new WeakRef(client))
  forgotten.register(client, principal)
  return client
}
