import type { FastifyReply, FastifyRequest } from 'fastify'
import { onImmediate, TurnBatch } from '../../lib/turn-batch.js'

type Serve = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * Why the calls of a disconnected client are aborted. One error for all: most connections have no call in flight at
 * their end.
 */
export const DISCONNECTED = new Error('the client closed the connection')

/** Serves the POSTs of one turn of the event loop together. An error that `serve` throws becomes the reply. */
export function batchPosts (serve: Serve): Serve {
  const posts = new TurnBatch<{ request: FastifyRequest, reply: FastifyReply }>(({ request, reply }) => {
    try {
      serve(request, reply)
    } catch (error) {
      void reply.send(error)
    }
  }, onImmediate)
  return (request, reply) => posts.add({ request, reply })
}

/**
 * The body as bytes, empty when there is none. It is taken from the request, which would keep it in memory until it is
 * answered.
 */
export function takeBody (request: FastifyRequest): Uint8Array {
  const { body } = request
  request.body = undefined
  return body instanceof Uint8Array ? body : new Uint8Array()
}
