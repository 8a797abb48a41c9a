import { onExpiry } from '../peer/expiry.js'
import { errors } from '../wire/errors.js'
import type { Call } from './call.js'

/** Throws when nothing can be sent before the response of the call. */
export function checkStream ({ channel, method }: Call): void {
  if (channel.streams) return
  if (channel.canStream === true) throw errors.tooManyStreams()
  throw errors.invalidRequest(`${method} needs a stream: use /mcp, WebSocket or stdio`)
}

/** Settles when the client cancels or disconnects, when its credential expires, or when the server begins to drain. */
export async function endOf (call: Call): Promise<void> {
  const { peer, identity } = call
  await new Promise<void>(resolve => {
    const offDrain = peer.onDrain(() => { resolve() })
    const offExpiry = onExpiry(identity, resolve)
    void call.response.finished.then(() => { offDrain(); offExpiry(); resolve() })
  })
}
