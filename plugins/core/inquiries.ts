import fp from 'fastify-plugin'
import { Inquiries } from '../../protocol/nodes/inquiries.js'

declare module './mcp.js' {
  interface Mcp {
    /** Questions to other nodes that share the store. */
    inquiries: Inquiries
  }
}

/** Answers other nodes as long as the server runs. */
export default fp(async (fastify) => {
  const { mcp } = fastify
  const inquiries = new Inquiries(mcp.store.nodes)
  mcp.provide('inquiries', inquiries)
  const stop = inquiries.start()
  fastify.addHook('onClose', async () => stop())
}, { name: 'patchbay-inquiries', dependencies: ['patchbay-mcp'] })
