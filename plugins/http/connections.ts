import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { Passing } from '../../lib/recycled-set.js'

declare module '../core/mcp.js' {
  interface Mcp {
    connections: {
      /** Replies that are not over. */
      readonly replies: Iterable<ServerResponse> & { readonly size: number }
      /** Runs `left` once, when the reply is over or its client is gone: now, if that has happened already. */
      onGone: (reply: FastifyReply, left: () => void) => void
      /** Settles when every reply has reached its client. Connections that are not done when the time is up are cut, but for the host's own. */
      flush: (graceMs: number) => Promise<void>
      /** The listener of `upgrade` events, for the plugin that dispatches them. */
      onUpgrade: (request: IncomingMessage, socket: Socket) => void
    }
  }
}

/** Who wants to hear when a reply is over. A property, because a reply lives too short for a map. */
const LEFT = Symbol('left')

type Reply = ServerResponse & { [LEFT]?: () => void }

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
  const replies = new Passing<Reply>()
  const upgrades = new WeakSet<Socket>()
  /** Replies that wait behind another on a connection. */
  const behind = new WeakMap<Socket, Set<ServerResponse>>()
  // HTTP/2 shares a connection among its requests, and Fastify ends its sessions in order.
  const shared = fastify.initialConfig.http2 === true
  // In a host application only what we answer is ours to cut.
  const { standalone } = fastify.mcp
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
  // Before Fastify hears of it, because its hooks may answer at once.
  fastify.server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unused.delete(socket)
    follow(response)
    if (response.socket === null) waitingOn(socket).add(response)
  })
  fastify.server.on('upgrade', onUpgrade)

  fastify.mcp.provide('connections', { replies, onGone, flush, onUpgrade })

  // Nobody reads a socket after an upgrade that was refused, so nobody would notice its end.
  fastify.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    if (upgrades.has(socket)) socket.destroySoon()
    done()
  })

  fastify.addHook('preClose', async () => {
    closing = true
    for (const socket of unused) socket.destroy()
  })

  function onGone (reply: FastifyReply, left: () => void): void {
    const raw: Reply = reply.raw
    const { socket, httpVersionMajor } = reply.request.raw
    if (raw.destroyed || (httpVersionMajor === 1 && socket.destroyed)) return left()
    // Requests that are injected did not come through the server.
    if (!replies.has(raw)) follow(raw)
    const before = raw[LEFT]
    raw[LEFT] = before === undefined ? left : () => { before(); left() }
  }

  async function flush (graceMs: number): Promise<void> {
    const timeUp = AbortSignal.timeout(graceMs)
    while (replies.size > 0 && !timeUp.aborted) {
      const [reply] = replies
      await once(reply as ServerResponse, 'close', { signal: timeUp }).catch(() => {})
    }
    for (const reply of replies) if (standalone || reply[LEFT] !== undefined) reply.destroy()
    // A body that nobody waits for any more would be waited for.
    const busy = new Set([...replies].map(({ req: { socket } }) => socket))
    for (const socket of sockets) if (!busy.has(socket) && !upgrades.has(socket)) socket.destroySoon()
  }

  function onUpgrade (_request: IncomingMessage, socket: Socket): void {
    unused.delete(socket)
    upgrades.add(socket)
  }

  function follow (response: ServerResponse): void {
    replies.add(response)
    response.on('close', over)
  }

  function over (this: Reply): void {
    if (!replies.delete(this)) return
    behind.get(this.req.socket)?.delete(this)
    this[LEFT]?.()
    // Nobody else closes a connection that becomes idle now.
    if (closing && !shared) this.req.socket.destroySoon()
  }

  function waitingOn (socket: Socket): Set<ServerResponse> {
    const known = behind.get(socket)
    if (known !== undefined) return known
    const waiting = new Set<ServerResponse>()
    behind.set(socket, waiting)
    socket.once('close', () => { for (const response of waiting) over.call(response) })
    return waiting
  }
}, { name: 'patchbay-connections', dependencies: ['patchbay-mcp'] })
