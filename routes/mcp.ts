import type { FastifyInstance } from 'fastify'
import { acceptsBoth, endSession, postServer, reviveSession, servePost, serveStream } from '../transports/http/streamable.js'
import { isForwarded } from '../protocol/http/forwarded.js'
import { httpErrors } from '../protocol/http/http-errors.js'
import { serveWebSocket, type WebSocketOptions } from '../transports/websocket/serve.js'
import { wantsWebSocket } from '../lib/plain-request.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

/** `/mcp`: Streamable HTTP in every revision, and WebSocket. */
export default async function mcpRoutes (app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  const serve = postServer((request, reply) => servePost(app, request, reply))
  for (const url of addresses(app, '/mcp')) {
    getRoute(app, url, options)

    app.post(url, {
      preHandler: reviveSession(app),
      onRequest: (request, _reply, done) => {
        done(acceptsBoth(request) ? undefined : httpErrors.acceptNeedsBoth())
      }
    }, serve)

    app.delete(url, { preHandler: reviveSession(app) }, async (request, reply) => {
      await endSession(app, request, reply)
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
    preHandler: reviveSession(app),
    // Whoever waits for the end of a reply costs an idle stream as much as the rest of it.
    handler: (request, reply) => { serveStream(app, request, reply).catch((error: Error) => reply.send(error)) },
    wsHandler: (socket, { identity, raw }) => {
      serveWebSocket(app.mcp.dispatcher, { socket, rawSocket: raw.socket, identity, forwarded: isForwarded(raw.headers) }, options)
    }
  })
}
