import { LIMITS } from '../protocol/wire/limits.js'
import type { Dial } from '../transports/client/link.js'
import type { ServerEntry } from './server-entry.js'

/** How a configured server is dialled. Its transport is loaded when it is dialled for the first time. */
export function dialOf ({ address }: ServerEntry): Dial {
  return async (events, signal) => {
    if (address.kind === 'stdio') {
      const { dialChild } = await import('./supervision/child-dial.js')
      return await dialChild(address)(events, signal)
    }
    const { dialUrl } = await import('../transports/client/dial-url.js')
    return await dialUrl(address.kind, address, { maxMessage: 64 * 1024 * 1024, limits: LIMITS, connections: 128, maxQueue: 64 * 1024 * 1024, heartbeat: 30_000 })(events, signal)
  }
}
