import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Settles when every reply has reached its client; whoever has not got or not sent everything when the time is up is cut, but for the host's own. */
    flushed: (graceMs: number) => Promise<void>
  }
  interface FastifyReply {
    /** Runs `left` once, when the reply is over or its client is gone: now, if that has happened already. */
    onGone: (left: () => void) => void
  }
}

/** How long a connection may take to ask for something while the server closes. */
const LATE = 500

/**
 * What becomes of connections. Node tells a reply that its client is gone only while the reply has the connection to itself, not
 * while it waits behind another; and closing a server waits for connections that never carried a request, such as the spares that
 * browsers and HTTP clients open, and cuts replies that are written but not sent. All of this is mended here.
 */
export default fp(async fastify => {
  const sockets = new Set<Socket>()
  const unused = new Set<Socket>()
  const replies = new Set<ServerResponse>()
  const upgrades = new WeakSet<Socket>()
  const waiting = new WeakMap<Socket, Set<() => void>>()
  // HTTP/2 shares a connection among its requests, and Fastify ends its sessions in order.
  const shared = fastify.initialConfig.http2 === true
  // In an application of somebody else only what we answer is ours to cut.
  const alone = fastify.hasPlugin('patchbay-http-errors')
  const ours = new WeakSet<ServerResponse>()
  let closing = false

  fastify.server.on(fastify.server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (shared) return
    unused.add(socket)
    sockets.add(socket)
    // Whoever comes now is told that we are closing, but not waited for.
    const late = closing ? setTimeout(() => { if (unused.has(socket)) socket.destroy() }, LATE).unref() : undefined
    socket.once('close', () => {
      clearTimeout(late)
      unused.delete(socket)
      sockets.delete(socket)
    })
  })
  fastify.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unused.delete(socket)
    replies.add(response)
    response.once('close', () => {
      replies.delete(response)
      // Nobody else closes a connection that becomes idle now.
      if (closing && !shared) socket.destroySoon()
    })
  })
  fastify.server.on('upgrade', (_request, socket: Socket) => {
    unused.delete(socket)
    upgrades.add(socket)
  })

  fastify.decorateReply('onGone', function (this: FastifyReply, left: () => void) {
    const { raw, request: { raw: { socket, httpVersionMajor } } } = this
    const connection = httpVersionMajor === 1 ? socket : undefined
    ours.add(raw)
    if (raw.destroyed || connection?.destroyed === true) return left()
    const others = connection === undefined ? undefined : waitingOn(connection)
    const leave = () => {
      raw.off('close', leave)
      others?.delete(leave)
      left()
    }
    raw.once('close', leave)
    others?.add(leave)
  })

  fastify.decorate('flushed', async graceMs => {
    const timeUp = AbortSignal.timeout(graceMs)
    while (replies.size > 0 && !timeUp.aborted) {
      const [reply] = replies
      await once(reply as ServerResponse, 'close', { signal: timeUp }).catch(() => {})
    }
    for (const reply of replies) if (alone || ours.has(reply)) reply.destroy()
    // A body that nobody waits for any more would be waited for.
    const busy = new Set([...replies].map(({ req: { socket } }) => socket))
    for (const socket of sockets) if (!busy.has(socket) && !upgrades.has(socket)) socket.destroySoon()
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
