import fp from 'fastify-plugin'
import type { Store } from '../../protocol/store.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Where everything is kept that outlives a call. */
    store: Store
  }
}

/** Registered first, so that it is closed last. */
export default fp(async (fastify, { store }: { store: Store }) => {
  fastify.decorate('store', store)
  fastify.addHook('onClose', async () => await store.close())
}, { name: 'store' })
