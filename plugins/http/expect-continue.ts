import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import fp from 'fastify-plugin'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Sends `100 Continue` to a client that waits for it before it sends its body. Only in a standalone gateway. */
    askForBody?: (request: IncomingMessage) => void
  }
}

/**
 * Delays `100 Continue` until the body is about to be read, so that a client that is refused for its Host header,
 * credential, rate or the size of its body does not send it. Node.js closes the connection of a refused one by itself.
 */
export default fp(async fastify => {
  const server = fastify.server as Server
  const waiting = new WeakMap<IncomingMessage, ServerResponse>()

  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response)
    server.emit('request', request, response)
  })
  // For an unknown URL Fastify would read the body first, with a parser of its own.
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && request.headers.expect !== undefined) reply.callNotFound()
    else done()
  })
  fastify.mcp.provide('askForBody', request => waiting.get(request)?.writeContinue())
}, { name: 'patchbay-expect-continue', dependencies: ['patchbay-mcp'] })
