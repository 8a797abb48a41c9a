import type { NodeCalls } from '../nodes/node-calls.js'
import type { Peer } from '../peer/peer.js'
import type { PeerOptions } from '../peer/peer-options.js'
import type { SessionStore } from '../store.js'

/** The surroundings of all sessions. */
export interface SessionPorts {
  store: SessionStore
  nodeCalls: NodeCalls
  /** True when announcements wait in this process, and not in the store, for a client that is not connected. */
  defersAnnouncements: boolean
  /** Subscribes a peer to a resource again, because it is stored so. */
  subscribe: (uri: string, peer: Peer) => Promise<void>
  /** Takes errors of the store that no client gets as a response: the client is served all the same. */
  onTrouble: (error: unknown) => void
}

export interface SessionOptions {
  ports: SessionPorts
  id?: string
  peer?: PeerOptions
  primed?: boolean
  /** True when the client may have had a stream open before. */
  wasConnected?: boolean
}
