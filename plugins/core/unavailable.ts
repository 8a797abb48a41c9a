import fp from 'fastify-plugin'

declare module './mcp.js' {
  interface Mcp {
    /**
     * Tools and resources that are not served, or cannot work now, by name: one sentence with the reason and what to
     * do.
     */
    unavailable: Map<string, string>
  }
}

export default fp(async fastify => {
  fastify.mcp.provide('unavailable', new Map<string, string>())
}, { name: 'patchbay-unavailable', dependencies: ['patchbay-mcp'] })
