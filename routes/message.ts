import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { serveMessage } from '../transports/http/message.js'
import { serveNamedEvents } from '../transports/http/named-events.js'
import { batchPosts } from '../transports/http/posts.js'
import { restoreSession } from '../transports/http/session-lookup.js'
import { SseConnections } from '../transports/http/sse.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

export default fp(messageRoutes, { name: 'patchbay-message-routes', encapsulate: true, dependencies: ['patchbay-mcp', 'patchbay-connections', 'patchbay-event-streams', 'patchbay-sessions'] })

/** `/message`, `/sse` and `/mcp/sse`: plain JSON-RPC, HTTP+SSE, and notifications as named events. */
async function messageRoutes (app: FastifyInstance): Promise<void> {
  const connections = new SseConnections(app.mcp)

  for (const url of addresses(app, '/sse')) {
    app.get(url, { exposeHeadRoute: false, config: { tickets: true } }, (request, reply) => connections.open(`${app.prefix}/message`, request, reply))
  }

  for (const url of addresses(app, '/mcp/sse')) {
    app.get(url, { exposeHeadRoute: false, config: { tickets: true }, preHandler: restoreSession(app.mcp.sessions) }, (request, reply) => {
      // Not async: Fastify would hold a promise for each open stream and double its memory.
      serveNamedEvents(app.mcp, request, reply).catch((error: Error) => reply.send(error))
    })
  }

  const serve = batchPosts((request, reply) => {
    const { sessionId } = request.query as Record<string, unknown>
    if (sessionId === undefined) serveMessage(app.mcp, request, reply)
    else connections.receive(sessionId, request, reply)
  })
  for (const url of addresses(app, '/message')) app.post(url, serve)

  refuseOtherMethods(app, '/sse', ['GET'])
  refuseOtherMethods(app, '/mcp/sse', ['GET'])
  refuseOtherMethods(app, '/message', ['POST'])
}
