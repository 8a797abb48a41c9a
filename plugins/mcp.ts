import fp from 'fastify-plugin'
import { Dispatcher } from '../protocol/dispatcher.js'
import type { DispatcherOptions } from '../protocol/dispatcher-options.js'
import { patience } from '../protocol/patience.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The dispatcher all transports share. */
    mcp: Dispatcher
  }
}

/** Puts the dispatcher on the instance; every capability registers itself with it. */
export default fp(async (fastify, options: DispatcherOptions) => {
  fastify.decorate('mcp', new Dispatcher(options))
  fastify.addHook('preClose', async () => await fastify.mcp.drain(patience(fastify.initialConfig.pluginTimeout)))
}, { name: 'mcp', fastify: '5.x' })
