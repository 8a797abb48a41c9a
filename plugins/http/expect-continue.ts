import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import fp from 'fastify-plugin'

declare module '../core/mcp.js' {
  interface Mcp {
    /** Tells a client that has asked first (`Expect: 100-continue`) to send its body. Only where Patchbay has the server to itself. */
    askForBody?: (request: IncomingMessage) => void
  }
}

/**
 * A client that asks before it sends its body is told to go on when the body is about to be read, and not before: who is refused for its
 * Host, its credentials, its rate or the size of the body need not send it. Node.js closes the connection of those by itself.
 */
export default fp(async fastify => {
  const server = fastify.server as Server
  const waiting = new WeakMap<IncomingMessage, ServerResponse>()

  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response)
    server.emit('request', request, response)
  })
  // Fastify would read the body first, with a parser of its own.
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && request.headers.expect !== undefined) reply.callNotFound()
    else done()
  })
  fastify.mcp.provide('askForBody', request => waiting.get(request)?.writeContinue())
}, { name: 'patchbay-expect-continue', dependencies: ['patchbay-mcp'] })
