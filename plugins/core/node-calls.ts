import fp from 'fastify-plugin'
import { NodeCalls } from '../../protocol/nodes/node-calls.js'

declare module './mcp.js' {
  interface Mcp {
    /** Requests to other nodes that share the store, and the handlers for theirs. */
    nodeCalls: NodeCalls
  }
}

/** Answers other nodes until the calls in flight were waited for, theirs included. */
export default fp(async (fastify) => {
  const { mcp } = fastify
  const nodeCalls = new NodeCalls(mcp.store.nodes)
  mcp.provide('nodeCalls', nodeCalls)
  const stop = nodeCalls.start()
  mcp.dispatcher.lifecycle.awaitAtDrain(async () => await nodeCalls.finished())
  fastify.addHook('preClose', async () => stop())
}, { name: 'patchbay-node-calls', dependencies: ['patchbay-mcp'] })
