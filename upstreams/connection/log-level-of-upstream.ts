import { withTimeout } from '../../lib/time.js'
import { atLeast, type LogLevel } from '../../protocol/wire/log-level.js'
import type { UpstreamPeer } from './upstream-peer.js'

/** How long a call waits for the answer to `logging/setLevel`, in milliseconds. */
const WAIT = 1_000

/**
 * The level that a server with a handshake was asked for: the most verbose one that any caller wanted. It has one for
 * all.
 */
export class LogLevelOfUpstream {
  #level: LogLevel | undefined

  /** True when messages of this level come already. */
  includes (wanted: LogLevel): boolean {
    return this.#level !== undefined && atLeast(wanted, this.#level)
  }

  /** Asks for messages of this level. Never rejects: a server without levels is called all the same. */
  async lower (wanted: LogLevel, peer: UpstreamPeer): Promise<void> {
    this.#level = wanted
    const asked = peer.request({ method: 'logging/setLevel', params: { level: wanted } }).catch(() => {})
    await withTimeout(asked, WAIT, () => {})
  }

  /** A new session begins without a level. */
  reset (): void {
    this.#level = undefined
  }
}
