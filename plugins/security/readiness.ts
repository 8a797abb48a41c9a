import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { httpErrors } from '../../protocol/http/http-errors.js'

declare module '../core/mcp.js' {
  interface Mcp {
    readiness: {
      /**
       * Says that the gateway is not ready, so that load balancers send no more requests, and goes on serving those
       * that come.
       */
      leave: () => void
    }
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that is served also while the server is shutting down or overloaded. */
    always?: boolean
  }
}

/**
 * Refuses requests while the server is shutting down or overloaded, on every route and on the WebSocket upgrade, before
 * the body is read. Requests that name a session are served longest, because they may end calls and sessions.
 */
export default fp(async fastify => {
  let draining = false
  let leaving: LastReplies | undefined
  fastify.mcp.provide('readiness', {
    leave: () => {
      leaving = new LastReplies()
      fastify.mcp.health.report('server', 'it is about to shut down', 'draining')
    }
  })
  fastify.addHook('onReady', async () => { fastify.mcp.dispatcher.lifecycle.onDrain(() => { draining = true }) })

  fastify.addHook('onRequest', (request, reply, done) => {
    leaving?.add(request.raw.socket, reply.raw)
    if (request.routeOptions.config.always === true) return done()
    if (draining) {
      reply.header('connection', 'close')
      return done(httpErrors.draining())
    }
    const { level, why } = fastify.mcp.pressure
    const isOverloaded = level !== 'none' && (isUpgrade(request) || (level === 'heavy' && !namesSession(request)))
    done(isOverloaded ? httpErrors.overloaded(why) : undefined)
  })
}, { name: 'patchbay-readiness', dependencies: ['patchbay-mcp', 'patchbay-health', 'patchbay-pressure'] })

/**
 * Closes connections with the reply to their last request: a proxy that keeps them would send a call on one that is
 * just being closed, and could not know whether it was carried out. Replies that others wait behind (HTTP pipelining)
 * keep the connection open.
 */
class LastReplies {
  readonly #bySocket = new WeakMap<Socket, ServerResponse>()

  add (socket: Socket, reply: ServerResponse): void {
    const previous = this.#bySocket.get(socket)
    if (previous !== undefined) previous.shouldKeepAlive = true
    reply.shouldKeepAlive = false
    this.#bySocket.set(socket, reply)
  }
}

const isUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined

function namesSession ({ headers, query }: FastifyRequest): boolean {
  return (
    headers['mcp-session-id'] !== undefined ||
    headers['x-session-id'] !== undefined ||
    Object.hasOwn(Object(query) as object, 'sessionId')
  )
}
