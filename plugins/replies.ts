import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { refusal } from '../protocol/refusal.js'

export interface ReplyLimits { maxPipelined: number, writeDeadline: number }

/**
 * What holds for plain replies: only so many wait on one connection, and whoever takes nothing of one for too long is cut. Event streams
 * have their own rules, and HTTP/2 its own flow control.
 */
export default fp(async (fastify, { maxPipelined, writeDeadline }: ReplyLimits) => {
  const waiting = new WeakMap<Socket, number>()
  /** How many waited when a request came. */
  const ahead = new WeakMap<IncomingMessage, number>()

  fastify.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket, httpVersionMajor } = request
    if (httpVersionMajor > 1) return
    const others = waiting.get(socket) ?? 0
    ahead.set(request, others)
    waiting.set(socket, others + 1)
    response.once('close', () => {
      const left = (waiting.get(socket) ?? 1) - 1
      waiting.set(socket, left)
      // The next one may take its time before there is anything to read.
      if (left > 0 && socket instanceof Socket) socket.setTimeout(0)
    })
  })

  // Fastify hears of a request before we do, but its hooks may run later.
  fastify.addHook('onRequest', async ({ raw }) => {
    if ((ahead.get(raw) ?? waiting.get(raw.socket) ?? 0) >= maxPipelined) throw refusal(429, `too many requests wait on this connection already, at most ${maxPipelined} (option maxPipelined)`)
  })

  // Node ends a connection on which nothing moves for that long, in either direction.
  fastify.addHook('onSend', async ({ raw: { httpVersionMajor } }, reply) => {
    const streams = String(reply.getHeader('content-type')).startsWith('text/event-stream')
    const { socket } = reply.raw
    // Requests that are injected have none.
    if (httpVersionMajor === 1 && !streams && socket instanceof Socket) socket.setTimeout(writeDeadline)
  })
}, { name: 'replies' })
