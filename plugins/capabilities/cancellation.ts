import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'

const Cancelled = Type.Object({
  requestId: Type.Union([Type.String(), Type.Integer()]),
  reason: Type.Optional(Type.String())
})

// A request that already finished is not an error: the two messages crossed on the wire. A handshake cannot be taken back.
export default fp(async ({ mcp }) => {
  mcp.notification('notifications/cancelled', Cancelled, ({ requestId, reason }, peer) => {
    const call = peer.inbound.get(requestId)
    if (call?.method !== 'initialize') call?.cancel(new Error(reason ?? 'cancelled by the client'))
  })
}, { name: 'patchbay-cancellation', dependencies: ['patchbay-mcp'] })
