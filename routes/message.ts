import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { serveMessage } from '../transports/http/message.js'
import { serveNamedEvents } from '../transports/http/named-events.js'
import { batchPosts } from '../transports/http/posts.js'
import { restoreSession } from '../transports/http/session-lookup.js'
import { SseConnections } from '../transports/http/sse.js'
import { viewOf } from '../transports/http/gateway.js'
import { addViewRoutes } from './views.js'

export default fp(messageRoutes, {
  name: 'patchbay-message-routes',
  encapsulate: true,
  dependencies: [
    'patchbay-mcp',
    'patchbay-auth',
    'patchbay-node-calls',
    'patchbay-connections',
    'patchbay-event-streams',
    'patchbay-sessions',
    'patchbay-views'
  ]
})

/**
 * `/message`, `/sse` and `/mcp/sse`, each also with the alias of an upstream: plain JSON-RPC, HTTP+SSE, and
 * notifications as named events.
 */
async function messageRoutes (app: FastifyInstance): Promise<void> {
  const { mcp, prefix } = app
  const connections = new SseConnections(mcp)

  addViewRoutes(app, '/sse', [{
    method: 'GET',
    config: { tickets: true },
    handler: (request, reply) => connections.open(`${prefix}/message${suffixOf(viewOf(request))}`, request, reply)
  }])

  addViewRoutes(app, '/mcp/sse', [{
    method: 'GET',
    config: { tickets: true },
    preHandler: restoreSession(mcp.sessions),
    // Not async: Fastify would hold a promise for each open stream and double its memory.
    handler: (request, reply) => { serveNamedEvents(mcp, request, reply).catch((error: Error) => reply.send(error)) }
  }])

  addViewRoutes(app, '/message', [{
    method: 'POST',
    handler: batchPosts((request, reply) => {
      const { sessionId } = request.query as Record<string, unknown>
      if (sessionId === undefined) serveMessage(mcp, request, reply)
      else connections.receive(sessionId, request, reply)
    })
  }])
}

const suffixOf = (view: string | undefined): string => view === undefined ? '' : `/${encodeURIComponent(view)}`
