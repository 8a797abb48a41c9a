import type { Dial } from '../transports/client/link.js'
import type { ServerEntry } from './server-entry.js'

/** How a configured server is dialled. Its transport is loaded when it is dialled for the first time. */
export function dialOf ({ address }: ServerEntry): Dial {
  return async (events, signal) => {
    if (address.kind !== 'stdio') throw new Error('servers with a URL cannot be reached yet')
    const { dialChild } = await import('./supervision/child-dial.js')
    return await dialChild(address)(events, signal)
  }
}
