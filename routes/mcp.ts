import type { FastifyInstance } from 'fastify'
import { accepts, endSession, servePost, serveStream } from '../transports/http.js'
import { refusal } from '../transports/refusal.js'
import { serveWebSocket, type WebSocketOptions } from '../transports/websocket.js'

/** `/mcp`: Streamable HTTP in every revision, and WebSocket. */
export default async function mcpRoutes (app: FastifyInstance, options: WebSocketOptions): Promise<void> {
  app.route({
    method: 'GET',
    url: '/mcp',
    exposeHeadRoute: false,
    preValidation: async (request, reply) => {
      if (!request.ws) return
      if (request.headers['sec-websocket-version'] !== '13') {
        reply.header('sec-websocket-version', '13')
        throw refusal(426, 'only WebSocket version 13 is spoken here')
      }
    },
    handler: (request, reply) => serveStream(app, request, reply),
    wsHandler: socket => serveWebSocket(app.mcp, socket, options)
  })

  app.post('/mcp', {
    onRequest: async request => {
      if (!accepts(request, 'application/json') || !accepts(request, 'text/event-stream')) {
        throw refusal(406, 'Accept must allow application/json and text/event-stream')
      }
    }
  }, (request, reply) => servePost(app, request, reply))

  app.delete('/mcp', (request, reply) => endSession(app, request, reply))

  app.route({
    method: ['HEAD', 'PUT', 'PATCH', 'OPTIONS'],
    url: '/mcp',
    handler: async (_request, reply) => {
      reply.header('allow', 'GET, POST, DELETE')
      throw refusal(405, 'use POST, GET or DELETE')
    }
  })
}
