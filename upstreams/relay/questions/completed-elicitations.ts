import type { Call } from '../../../protocol/dispatch/call.js'
import type { Peer } from '../../../protocol/peer/peer.js'
import type { Connection } from '../../ports.js'

const METHOD = 'notifications/elicitation/complete'

/**
 * How many pages of one connection may be open; the oldest is forgotten first. Its client then learns of it by trying
 * again.
 */
const MAX_EXPECTED = 1_000
/** A longer id is not remembered. */
const MAX_ID = 1_024

interface Expecting { readonly peer: WeakRef<Peer>, readonly call: WeakRef<Call> }

const connections = new WeakMap<Connection, { readonly expected: Map<string, Expecting>, stop: () => void }>()

/** Sends the client of this call, and no other, the notification that the page with this id was completed. */
export function expectCompletion (connection: Connection, elicitationId: string, call: Call): void {
  if (elicitationId.length > MAX_ID) return
  const { expected, stop } = connections.get(connection) ?? { expected: new Map<string, Expecting>(), stop: () => {} }
  const [oldest] = expected.keys()
  if (expected.size >= MAX_EXPECTED && oldest !== undefined) expected.delete(oldest)
  expected.set(elicitationId, { peer: new WeakRef(call.peer), call: new WeakRef(call) })
  // Each time anew, because a connection that had to be opened again has lost its listeners.
  stop()
  connections.set(connection, { expected, stop: listen(connection, expected) })
}

function listen (connection: Connection, expected: Map<string, Expecting>): () => void {
  return connection.onNotification((method, params) => {
    if (method !== METHOD || typeof params.elicitationId !== 'string') return
    const expecting = expected.get(params.elicitationId)
    expected.delete(params.elicitationId)
    if (expecting !== undefined) announce(expecting, { elicitationId: params.elicitationId })
  })
}

// While the call runs, its own stream is the one that the client is sure to read.
function announce ({ peer, call }: Expecting, params: object): void {
  const running = call.deref()
  if (running?.response.isClosed === false) running.notify(METHOD, params)
  else peer.deref()?.notify(METHOD, params)
}
