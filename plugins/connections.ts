import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyReply {
    /** Runs `left` once, when the reply is over or its client is gone: now, if that has happened already. */
    onGone: (left: () => void) => void
  }
}

/**
 * What becomes of connections. Node tells a reply that its client is gone only while the reply has the connection to itself, not
 * while it waits behind another; and closing a server waits for connections that never carried a request, such as the spares that
 * browsers and HTTP clients open. Both are mended here.
 */
export default fp(async fastify => {
  const unused = new Set<Socket>()
  const upgrades = new WeakSet<Socket>()
  const waiting = new WeakMap<Socket, Set<() => void>>()
  let closing = false

  fastify.server.on(fastify.server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (closing) socket.destroy()
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  fastify.server.on('request', ({ socket }) => { unused.delete(socket) })
  fastify.server.on('upgrade', ({ socket }) => {
    unused.delete(socket)
    upgrades.add(socket)
  })

  fastify.decorateReply('onGone', function (this: FastifyReply, left: () => void) {
    const { raw, request: { raw: { socket, httpVersionMajor } } } = this
    const connection = httpVersionMajor === 1 ? socket : undefined
    if (raw.destroyed || connection?.destroyed === true) return left()
    const others = connection === undefined ? undefined : waitingOn(connection)
    const once = () => {
      raw.off('close', once)
      others?.delete(once)
      left()
    }
    raw.once('close', once)
    others?.add(once)
  })

  // Nobody reads a socket after an upgrade that was refused, so nobody would notice its end.
  fastify.addHook('onResponse', async ({ raw: { socket } }) => { if (upgrades.has(socket)) socket.destroySoon() })

  fastify.addHook('preClose', async () => {
    closing = true
    for (const socket of unused) socket.destroy()
  })

  function waitingOn (socket: Socket): Set<() => void> {
    const known = waiting.get(socket)
    if (known !== undefined) return known
    const left = new Set<() => void>()
    waiting.set(socket, left)
    socket.once('close', () => { for (const one of left) one() })
    return left
  }
}, { name: 'connections' })
