import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { RecycledSet } from '../../lib/recycled.js'

declare module '../core/mcp.js' {
  interface Mcp {
    connections: {
      /** Replies that are not finished. */
      readonly replies: Iterable<ServerResponse> & { readonly size: number }
      /**
       * Runs `callback` once, when the reply is finished or its client has disconnected: now, if that has happened
       * already.
       */
      onGone: (reply: FastifyReply, callback: () => void) => void
      /**
       * Settles when every reply has reached its client, or the time is up. What is left then is destroyed, but for
       * replies of the host.
       */
      flush: (graceMs: number) => Promise<void>
      /** The listener of `upgrade` events, for the plugin that dispatches them. */
      onUpgrade: (request: IncomingMessage, socket: Socket) => void
    }
  }
}

/** The callback of `onGone`. A property of the reply: a WeakMap entry would cost more than the rest of it. */
const ON_FINISHED = Symbol('onFinished')

type Reply = ServerResponse & { [ON_FINISHED]?: () => void }

/** How many milliseconds a connection that is opened while the server closes may take to send a request. */
const LATE_REQUEST_TIMEOUT = 500

/**
 * Follows connections and replies, because Node.js
 * - emits `close` on a reply only while it has the connection to itself, not while it waits behind another (HTTP
 *   pipelining),
 * - waits at close for connections that never carried a request, such as the spares that browsers and HTTP clients
 *   open,
 * - destroys at close replies that are written but not sent.
 */
export default fp(async fastify => {
  const connections = new Connections(fastify.initialConfig.http2 === true, fastify.mcp.standalone)
  connections.listen(fastify.server)
  fastify.mcp.provide('connections', {
    replies: connections.replies,
    onGone: (reply, callback) => connections.onGone(reply, callback),
    flush: async graceMs => await connections.flush(graceMs),
    onUpgrade: connections.onUpgrade
  })
  fastify.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    connections.closeRefusedUpgrade(socket)
    done()
  })
  fastify.addHook('preClose', async () => connections.close())
}, { name: 'patchbay-connections', dependencies: ['patchbay-mcp'] })

class Connections {
  readonly replies = new RecycledSet<Reply>()
  readonly #sockets = new Set<Socket>()
  /** Sockets that have not carried a request yet. */
  readonly #unused = new Set<Socket>()
  readonly #upgraded = new WeakSet<Socket>()
  /** Replies that wait behind another one on their socket. */
  readonly #pipelined = new WeakMap<Socket, Set<Reply>>()
  readonly #isHttp2: boolean
  readonly #standalone: boolean
  /** One listener for all replies, instead of a closure for each. */
  readonly #onReplyClose: (this: Reply) => void
  #closing = false

  /**
   * With HTTP/2 Fastify closes the connections. In a host application, not `standalone`, only our own replies are
   * destroyed.
   */
  constructor (isHttp2: boolean, standalone: boolean) {
    const finish = (reply: Reply) => this.#finishReply(reply)
    this.#isHttp2 = isHttp2
    this.#standalone = standalone
    this.#onReplyClose = function () { finish(this) }
  }

  readonly onUpgrade = (_request: IncomingMessage, socket: Socket): void => {
    this.#unused.delete(socket)
    this.#upgraded.add(socket)
  }

  listen (server: Pick<Server, 'on' | 'prependListener'>): void {
    const connected = server instanceof TlsServer ? 'secureConnection' : 'connection'
    if (!this.#isHttp2) server.on(connected, (socket: Socket) => this.#addSocket(socket))
    // Before Fastify's own listener, because its hooks may reply at once.
    server.prependListener('request', ({ socket }: IncomingMessage, reply: ServerResponse) => {
      this.#unused.delete(socket)
      this.#trackReply(reply)
      if (reply.socket === null) this.#pipelinedOn(socket).add(reply)
    })
    server.on('upgrade', this.onUpgrade)
  }

  onGone ({ raw, request }: FastifyReply, callback: () => void): void {
    const reply: Reply = raw
    const { socket, httpVersionMajor } = request.raw
    if (reply.destroyed || (httpVersionMajor === 1 && socket.destroyed)) return callback()
    // Injected requests do not come through the server.
    if (!this.replies.has(reply)) this.#trackReply(reply)
    const before = reply[ON_FINISHED]
    reply[ON_FINISHED] = before === undefined ? callback : () => { before(); callback() }
  }

  async flush (graceMs: number): Promise<void> {
    const timeUp = AbortSignal.timeout(graceMs)
    while (this.replies.size > 0 && !timeUp.aborted) {
      const [reply] = this.replies
      await once(reply as ServerResponse, 'close', { signal: timeUp }).catch(() => {})
    }
    for (const reply of this.replies) if (this.#standalone || reply[ON_FINISHED] !== undefined) reply.destroy()
    // The server would wait for request bodies that are still being sent.
    const busy = new Set([...this.replies].map(({ req: { socket } }) => socket))
    for (const socket of this.#sockets) if (!busy.has(socket) && !this.#upgraded.has(socket)) socket.destroySoon()
  }

  /** Closes a socket whose upgrade was refused: nothing reads from it, so its end would not be noticed. */
  closeRefusedUpgrade (socket: Socket): void {
    if (this.#upgraded.has(socket)) socket.destroySoon()
  }

  close (): void {
    this.#closing = true
    for (const socket of this.#unused) socket.destroy()
  }

  #addSocket (socket: Socket): void {
    this.#unused.add(socket)
    this.#sockets.add(socket)
    // A request that comes now is refused with an HTTP error; a socket without one is not waited for.
    const destroyUnused = () => { if (this.#unused.has(socket)) socket.destroy() }
    const timer = this.#closing ? setTimeout(destroyUnused, LATE_REQUEST_TIMEOUT).unref() : undefined
    socket.once('close', () => {
      clearTimeout(timer)
      this.#unused.delete(socket)
      this.#sockets.delete(socket)
    })
  }

  #trackReply (reply: Reply): void {
    this.replies.add(reply)
    reply.on('close', this.#onReplyClose)
  }

  #finishReply (reply: Reply): void {
    if (!this.replies.delete(reply)) return
    this.#pipelined.get(reply.req.socket)?.delete(reply)
    reply[ON_FINISHED]?.()
    // Node.js has closed the idle connections already; this one becomes idle now.
    // The socket of an injected request is none.
    if (this.#closing && !this.#isHttp2) (reply.req.socket as Partial<Socket>).destroySoon?.()
  }

  #pipelinedOn (socket: Socket): Set<Reply> {
    const known = this.#pipelined.get(socket)
    if (known !== undefined) return known
    const replies = new Set<Reply>()
    this.#pipelined.set(socket, replies)
    socket.once('close', () => { for (const reply of replies) this.#finishReply(reply) })
    return replies
  }
}
