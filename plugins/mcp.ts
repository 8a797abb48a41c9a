import fp from 'fastify-plugin'
import { Dispatcher, type DispatcherOptions } from '../protocol/dispatcher.js'

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

// Fastify gives up a hook at closing time as it does a plugin at start, so we have to be ready before.
const patience = (pluginTimeout = 0): number => pluginTimeout === 0 ? Infinity : pluginTimeout * 0.8
