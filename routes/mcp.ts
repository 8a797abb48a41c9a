import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { wantsWebSocket } from '../lib/websocket.js'
import { narrowingOf } from '../protocol/http/narrowing.js'
import { isProxied } from '../protocol/http/proxied.js'
import { httpErrors } from '../protocol/http/http-errors.js'
import { acceptsBoth } from '../transports/http/headers.js'
import { batchPosts } from '../transports/http/posts.js'
import { restoreSession } from '../transports/http/session-lookup.js'
import { endSession, servePost, serveStream } from '../transports/http/streamable.js'
import { viewOf } from '../transports/http/gateway.js'
import { serveWebSocket, type WebSocketOptions } from '../transports/websocket/serve.js'
import type { Route } from './paths.js'
import { addViewRoutes } from './views.js'

export default fp(mcpRoutes, {
  name: 'patchbay-mcp-routes',
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

/** `/mcp`, and `/mcp/ALIAS` for one upstream: Streamable HTTP in every revision, and WebSocket. */
async function mcpRoutes (app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  const { mcp } = app
  addViewRoutes(app, '/mcp', [
    getRoute(app, options),
    {
      method: 'POST',
      preHandler: restoreSession(mcp.sessions),
      onRequest: (request, _reply, done) => {
        done(acceptsBoth(request) ? undefined : httpErrors.acceptNeedsBoth())
      },
      handler: batchPosts((request, reply) => servePost(mcp, request, reply))
    },
    {
      method: 'DELETE',
      preHandler: restoreSession(mcp.sessions),
      handler: async (request, reply) => {
        await endSession(mcp.sessions, request, reply)
        return reply
      }
    }
  ])
}

function getRoute ({ mcp }: FastifyInstance, options: WebSocketOptions): Omit<Route, 'url'> {
  return {
    method: 'GET',
    config: { tickets: true },
    preValidation: async (request, reply) => {
      // Refused while there is an HTTP reply to refuse it with.
      narrowingOf(request.query, request.headers)
      if (!wantsWebSocket(request.raw) || request.headers['sec-websocket-version'] === '13') return
      reply.header('sec-websocket-version', '13')
      throw httpErrors.websocketVersion()
    },
    preHandler: restoreSession(mcp.sessions),
    // Not async: Fastify would hold a promise for each open stream and double its memory.
    handler: (request, reply) => { serveStream(mcp, request, reply).catch((error: Error) => reply.send(error)) },
    wsHandler: (socket, request) => {
      const { identity, raw, query, ip } = request
      serveWebSocket(
        mcp.dispatcher,
        {
          socket,
          rawSocket: raw.socket,
          identity,
          address: ip,
          proxied: isProxied(raw.headers),
          view: viewOf(request),
          narrowing: narrowingOf(query, raw.headers)
        },
        options
      )
    }
  }
}
