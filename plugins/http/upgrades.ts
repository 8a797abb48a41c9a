import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { serveWithoutUpgrade, wantsWebSocket } from '../../lib/plain-request.js'

type Upgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void

/**
 * What becomes of upgrades: those to a WebSocket go to whoever serves them, others are plain requests, and a connection that became
 * neither in time is closed, because nobody else watches it any more.
 */
export default fp(async (fastify, { headersTimeout }: { headersTimeout: number }) => {
  const server = fastify.server as Server
  const pending = new Map<Socket, NodeJS.Timeout>()
  const served = server.listeners('upgrade') as Upgrade[]

  server.removeAllListeners('upgrade')
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!wantsWebSocket(request)) return serveWithoutUpgrade(server, request, socket, head)
    pending.set(socket, setTimeout(() => socket.destroy(), headersTimeout).unref())
    socket.once('close', () => settle(socket))
    for (const serve of served) serve(request, socket, head)
  })
  fastify.websocketServer.on('connection', (_socket, { socket }) => settle(socket))

  fastify.addHook('onClose', async () => { for (const socket of pending.keys()) socket.destroy() })

  function settle (socket: Socket): void {
    clearTimeout(pending.get(socket))
    pending.delete(socket)
  }
}, { name: 'patchbay-upgrades', dependencies: ['patchbay-websocket'] })
