import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../../protocol/http/http-errors.js'

/** Up to how many characters a reply is nearly always taken by the operating system at once. Who is to blame where it is not is found out later. */
const LITTLE = 65_536

export interface ReplyLimits { maxPipelined: number, writeDeadline: number }

/**
 * What holds for plain replies: only so many wait on one connection, and whoever takes nothing of one for too long is cut. Event streams
 * have their own rules, and HTTP/2 its own flow control.
 */
export default fp(async (fastify, { maxPipelined, writeDeadline }: ReplyLimits) => {
  /** Replies that wait behind another one on their connection. */
  const waiting = new WeakMap<Socket, number>()
  /** How many waited when a request came. */
  const ahead = new WeakMap<IncomingMessage, number>()

  // A reply gets its connection when those before it are written, so most have it from the beginning and nothing has to be counted.
  fastify.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, httpVersionMajor } = request
    if (httpVersionMajor > 1 || response.socket !== null) return
    const others = (waiting.get(socket) ?? 0) + 1
    ahead.set(request, others)
    waiting.set(socket, others)
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
    // The reply before may have said how long its own writing may take; this one may take its time before there is anything to read.
    response.once('socket', () => { if (socket instanceof Socket) socket.setTimeout(0) })
  })

  fastify.addHook('onRequest', ({ raw }, _reply, done) => {
    const many = (ahead.get(raw) ?? 0) >= maxPipelined
    done(many ? httpErrors.tooManyPipelined(maxPipelined) : undefined)
  })

  // Node ends a connection on which nothing moves for that long, in either direction.
  fastify.addHook('onSend', ({ raw: { httpVersionMajor } }, reply, payload, done) => {
    const { socket } = reply.raw
    // Requests that are injected have none.
    if (httpVersionMajor === 1 && socket instanceof Socket && !isWrittenAtOnce(payload, socket) && !isStream(reply)) socket.setTimeout(writeDeadline)
    done(null, payload)
  })

  // Who has not taken so little by now is watched from now on.
  const look = setInterval(() => {
    for (const { writableEnded, socket } of fastify.mcp.connections.replies) if (writableEnded && socket instanceof Socket && !socket.timeout) socket.setTimeout(writeDeadline)
  }, writeDeadline).unref()
  fastify.addHook('onClose', async () => clearInterval(look))
}, { name: 'patchbay-reply-limits', dependencies: ['patchbay-connections'] })

/** True for what the operating system takes without waiting for the reader: a little, with nothing before it. */
function isWrittenAtOnce (payload: unknown, { writableLength }: Socket): boolean {
  return writableLength === 0 && (payload === undefined || payload === null || (typeof payload === 'string' && payload.length < LITTLE))
}

const isStream = (reply: FastifyReply): boolean => String(reply.getHeader('content-type')).startsWith('text/event-stream')
