import type { Peer } from '../peer/peer.js'
import type { Incoming } from '../wire/jsonrpc.js'
import type { LoaderPorts } from './session-loader.js'

export interface SessionLimits { maxSessions: number, maxSessionsPerPrincipal: number, sessionIdle: number }

/** The surroundings of the registry. */
export interface RegistryPorts extends Omit<LoaderPorts, 'forward'> {
  /** Decodes what a client sent and another node passed on. */
  decode: (text: string) => Incoming
  /** Makes a peer known to the dispatcher, and unknown again. */
  connect: (peer: Peer) => void
  disconnect: (peer: Peer, reason: Error) => void
  /** Throws an HTTP error while the server is overloaded. */
  checkPressure: () => void
  /**
   * Throws an HTTP error while a store that other nodes share cannot be used: they would not know what is not stored.
   */
  checkStore: () => void
  /** Takes why no session can be opened, or undefined when one can. */
  reportHealth: (problem: string | undefined) => void
}
