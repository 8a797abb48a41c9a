import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../../protocol/http/http-errors.js'

/**
 * Replies of fewer characters nearly always fit into the operating system's socket buffer; a timer finds those that did
 * not.
 */
const SMALL_REPLY = 65_536

export interface ReplyLimits { maxPipelined: number, writeDeadline: number }

/**
 * Limits how many plain replies wait on one connection, and destroys a connection whose client reads nothing of a reply
 * for too long. Event streams have limits of their own, and HTTP/2 its own flow control.
 */
export default fp(async (fastify, { maxPipelined, writeDeadline }: ReplyLimits) => {
  /** How many replies wait behind another one on a connection. */
  const pipelined = new WeakMap<Socket, number>()
  /** How many waited when a request came, itself included. */
  const queuedAt = new WeakMap<IncomingMessage, number>()

  // A reply gets its socket when those before it are written; most have it at once, and nothing has to be counted.
  fastify.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, httpVersionMajor } = request
    if (httpVersionMajor > 1 || response.socket !== null) return
    const count = (pipelined.get(socket) ?? 0) + 1
    queuedAt.set(request, count)
    pipelined.set(socket, count)
    response.once('close', () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1))
    // The reply before may have set a write deadline; it does not hold while this one is still being computed.
    response.once('socket', () => { if (socket instanceof Socket) socket.setTimeout(0) })
  })

  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const isTooMany = (queuedAt.get(raw) ?? 0) >= maxPipelined
    done(isTooMany ? httpErrors.tooManyPipelined(maxPipelined) : undefined)
  })

  // Node.js destroys a socket on which nothing is read or written for that long.
  fastify.addHook('onSend', ({ raw: { httpVersionMajor } }, reply, payload, done) => {
    const { socket } = reply.raw
    // Injected requests have no socket.
    const isSlow =
      httpVersionMajor === 1 && socket instanceof Socket && !isWrittenAtOnce(payload, socket) && !isStream(reply)
    if (isSlow) socket.setTimeout(writeDeadline)
    done(null, payload)
  })

  // A small reply that is still not written gets the deadline from now on.
  const timer = setInterval(() => {
    for (const { writableEnded, socket } of fastify.mcp.connections.replies) {
      if (writableEnded && socket instanceof Socket && !socket.timeout) socket.setTimeout(writeDeadline)
    }
  }, writeDeadline).unref()
  fastify.addHook('onClose', async () => clearInterval(timer))
}, { name: 'patchbay-reply-limits', dependencies: ['patchbay-connections'] })

/** True for a small reply with nothing before it: the operating system takes it without waiting for the client. */
function isWrittenAtOnce (payload: unknown, { writableLength }: Socket): boolean {
  const isSmall =
    payload === undefined || payload === null || (typeof payload === 'string' && payload.length < SMALL_REPLY)
  return isSmall && writableLength === 0
}

const isStream = (reply: FastifyReply): boolean =>
  String(reply.getHeader('content-type')).startsWith('text/event-stream')
