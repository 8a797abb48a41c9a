import type { Revision } from '../revisions/revision.js'
import type { Channel, Headers } from '../wire/channel.js'
import type { Identity } from '../wire/identity.js'

/** How a peer reaches us. */
export type Transport = 'stdio' | 'memory' | 'http' | 'sse' | 'websocket'

export interface PeerOptions {
  transport?: Transport
  /** Where messages outside any call go; absent while the client has no stream open. */
  channel?: Channel
  /**
   * The revision where no `initialize` is needed: a stateful one unless a request describes itself, or a stateless one,
   * for requests that all have to.
   */
  revision?: Revision
  /** Headers that must agree with the message; absent where there are none. */
  headers?: Headers
  /** The caller; an anonymous one with all scopes when absent. */
  identity?: Identity
  /** The view that the client chose by the URL it connected to; absent where it sees the whole gateway. */
  view?: string | undefined
  /**
   * The part that the requests of one HTTP connection have in common; absent where the peer itself is the connection or
   * a session.
   */
  connection?: object
  /** Put before the ids of our own requests, where an earlier process may have used the plain ones. */
  requestIdPrefix?: string
}
