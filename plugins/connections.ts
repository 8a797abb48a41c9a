import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

/**
 * Closing a server waits for every connection that is not idle, and to Node one that never carried a request is not: browsers
 * and HTTP clients open such spares. Those are cut when the server closes, so that it really does.
 */
export default fp(async fastify => {
  const unused = new Set<Socket>()
  const upgrades = new WeakSet<Socket>()
  let closing = false

  fastify.server.on('connection', (socket: Socket) => {
    if (closing) socket.destroy()
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  fastify.server.on('request', ({ socket }) => { unused.delete(socket) })
  fastify.server.on('upgrade', ({ socket }) => {
    unused.delete(socket)
    upgrades.add(socket)
  })

  // Nobody reads a socket after an upgrade that was refused, so nobody would notice its end.
  fastify.addHook('onResponse', async ({ raw: { socket } }) => { if (upgrades.has(socket)) socket.destroySoon() })

  fastify.addHook('preClose', async () => {
    closing = true
    for (const socket of unused) socket.destroy()
  })
}, { name: 'connections' })
