import type { FastifyInstance } from 'fastify'
import { postServer, reviveSession } from '../transports/http/streamable.js'
import { serveMessage } from '../transports/http/message.js'
import { SseConnections, serveNamedEvents } from '../transports/http/sse.js'
import { addresses } from './paths.js'
import { refuseOtherMethods } from './other-methods.js'

/** `/message`, `/sse` and `/mcp/sse`: plain JSON-RPC, HTTP+SSE, and notifications as named events. */
export default async function messageRoutes (app: FastifyInstance): Promise<void> {
  const connections = new SseConnections(app)

  for (const url of addresses(app, '/sse')) {
    app.get(url, { exposeHeadRoute: false, config: { tickets: true } }, (request, reply) => connections.open(`${app.prefix}/message`, request, reply))
  }

  for (const url of addresses(app, '/mcp/sse')) {
    app.get(url, { exposeHeadRoute: false, config: { tickets: true }, preHandler: reviveSession(app) }, (request, reply) => {
      serveNamedEvents(app, request, reply).catch((error: Error) => reply.send(error))
    })
  }

  const serve = postServer((request, reply) => {
    const { sessionId } = request.query as Record<string, unknown>
    if (sessionId === undefined) serveMessage(app, request, reply)
    else connections.receive(sessionId, request, reply)
  })
  for (const url of addresses(app, '/message')) app.post(url, serve)

  refuseOtherMethods(app, '/sse', ['GET'])
  refuseOtherMethods(app, '/mcp/sse', ['GET'])
  refuseOtherMethods(app, '/message', ['POST'])
}
