import fp from 'fastify-plugin'
import { Dispatcher } from '../../protocol/dispatch/dispatcher.js'
import type { DispatcherOptions } from '../../protocol/dispatch/dispatcher-options.js'
import type { Limits } from '../../protocol/wire/limits.js'
import { closeHookBudget } from '../../lib/time/close-budget.js'
import { heapLimit } from '../../system/process/memory.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The dispatcher all transports share. */
    mcp: Dispatcher
  }
}

/** The share of the heap that what clients have sent may take: text may take twice its bytes, and answers are made of it. */
const HELD_SHARE = 1 / 8

type Given = Omit<Limits, 'maxAllBytesInFlight'> & { maxAllBytesInFlight?: number | undefined }
export interface McpOptions extends Omit<DispatcherOptions, 'limits'> { limits: Given }

/** Puts the dispatcher on the instance; every capability registers itself with it. */
export default fp(async (fastify, { limits, ...options }: McpOptions) => {
  fastify.decorate('mcp', new Dispatcher({ ...options, limits: { ...limits, maxAllBytesInFlight: limits.maxAllBytesInFlight ?? Math.floor(HELD_SHARE * heapLimit()) } }))
  fastify.addHook('preClose', async () => await fastify.mcp.drain(closeHookBudget(fastify.initialConfig.pluginTimeout)))
}, { name: 'mcp', fastify: '5.x' })
