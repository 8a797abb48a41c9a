import type { PeerOptions } from '../peer/peer-options.js'
import type { SessionStore } from '../store.js'

export interface SessionOptions {
  store: SessionStore
  /** Called with errors of the store; the client is served all the same. */
  onTrouble: (error: unknown) => void
  id?: string
  peer?: PeerOptions
  primed?: boolean
  /** True when announcements wait in this process, and not in the store, for a client that is not connected. */
  defersAnnouncements?: boolean
  /** True when the client may have had a stream open before. */
  wasConnected?: boolean
}
