import fp from 'fastify-plugin'

const EXPOSED = 'Mcp-Session-Id, X-Session-ID, MCP-Protocol-Version, WWW-Authenticate, Retry-After'
const METHODS = 'GET, POST, DELETE'
const MAX_AGE = '600'

/**
 * Sends the CORS headers to web pages; `origin` has refused pages of other origins before. Only in a standalone
 * gateway: a host application has its own rules.
 */
export default fp(async fastify => {
  fastify.addHook('onRequest', ({ method, headers }, reply, done) => {
    if (headers.origin === undefined) return done()
    reply.headers({
      'access-control-allow-origin': headers.origin,
      'access-control-expose-headers': EXPOSED,
      vary: 'Origin'
    })
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return done()
    reply.headers({
      'access-control-allow-methods': METHODS,
      'access-control-allow-headers': headers['access-control-request-headers'] ?? '',
      'access-control-max-age': MAX_AGE
    })
    void reply.code(204).send()
  })
}, { name: 'patchbay-cors', dependencies: ['patchbay-origin'] })
