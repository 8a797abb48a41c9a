import fp from 'fastify-plugin'

declare module './mcp.js' {
  interface Mcp {
    /** What could be served here and is not, or cannot work now, by name, and why: one sentence that says what to do about it. */
    unavailable: Map<string, string>
  }
}

export default fp(async fastify => {
  fastify.mcp.provide('unavailable', new Map<string, string>())
}, { name: 'patchbay-unavailable', dependencies: ['patchbay-mcp'] })
