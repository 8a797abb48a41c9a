import { Type } from '@sinclair/typebox'
import fp from 'fastify-plugin'
import { cancelCall } from '../../protocol/peer/cancel-call.js'

const Cancelled = Type.Object({
  requestId: Type.Union([Type.String(), Type.Integer()]),
  reason: Type.Optional(Type.String())
})

// A request that already finished is not an error: the two messages crossed on the wire. Otherwise another node may run
// it.
export default fp(async ({ mcp }) => {
  mcp.notification('notifications/cancelled', Cancelled, ({ requestId, reason }, peer) => {
    if (!cancelCall(peer, requestId, reason)) {
      void peer.forward?.({ kind: 'notification', method: 'notifications/cancelled', params: { requestId, reason } })
    }
  })
}, { name: 'patchbay-cancellation', dependencies: ['patchbay-mcp'] })
