import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { acceptsBoth } from '../transports/http/headers.js'
import { batchPosts } from '../transports/http/posts.js'
import { restoreSession } from '../transports/http/session-lookup.js'
import { endSession, servePost, serveStream } from '../transports/http/streamable.js'
import { isForwarded } from '../protocol/http/forwarded.js'
import { httpErrors } from '../protocol/http/http-errors.js'
import { serveWebSocket, type WebSocketOptions } from '../transports/websocket/serve.js'
import { wantsWebSocket } from '../lib/network/plain-request.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

export default fp(mcpRoutes, { name: 'patchbay-mcp-routes', encapsulate: true, dependencies: ['patchbay-mcp', 'patchbay-connections', 'patchbay-event-streams', 'patchbay-sessions'] })

/** `/mcp`: Streamable HTTP in every revision, and WebSocket. */
async function mcpRoutes (app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  const serve = batchPosts((request, reply) => servePost(app.mcp, request, reply))
  for (const url of addresses(app, '/mcp')) {
    getRoute(app, url, options)

    app.post(url, {
      preHandler: restoreSession(app.mcp.sessions),
      onRequest: (request, _reply, done) => {
        done(acceptsBoth(request) ? undefined : httpErrors.acceptNeedsBoth())
      }
    }, serve)

    app.delete(url, { preHandler: restoreSession(app.mcp.sessions) }, async (request, reply) => {
      await endSession(app.mcp.sessions, request, reply)
      return reply
    })
  }

  refuseOtherMethods(app, '/mcp', ['GET', 'POST', 'DELETE'])
}

function getRoute (app: FastifyInstance, url: string, options: WebSocketOptions): void {
  app.route({
    method: 'GET',
    url,
    exposeHeadRoute: false,
    config: { tickets: true },
    preValidation: async (request, reply) => {
      if (!wantsWebSocket(request.raw) || request.headers['sec-websocket-version'] === '13') return
      reply.header('sec-websocket-version', '13')
      throw httpErrors.websocketVersion()
    },
    preHandler: restoreSession(app.mcp.sessions),
    // Not async: Fastify would hold a promise for each open stream and double its memory.
    handler: (request, reply) => { serveStream(app.mcp, request, reply).catch((error: Error) => reply.send(error)) },
    wsHandler: (socket, { identity, raw }) => {
      serveWebSocket(app.mcp.dispatcher, { socket, rawSocket: raw.socket, identity, forwarded: isForwarded(raw.headers) }, options)
    }
  })
}
