import type { FastifyInstance } from 'fastify'
import { createClient, patchbay, tool, Type } from 'mcp-patchbay'
import { identifyCallers, shop } from './shop.js'

/**
 * The shop with MCP under /ai. Patchbay may be registered before or after the other plugins, but after the hook that
 * identifies callers.
 */
export async function shopWithPatchbay (app: FastifyInstance, patchbayFirst: boolean): Promise<void> {
  identifyCallers(app)
  for (const step of patchbayFirst ? [mcp, shop] : [shop, mcp]) await step(app)
  answerByTool(app)
}

async function mcp (app: FastifyInstance): Promise<void> {
  await app.register(patchbay, { prefix: '/ai' })
  app.mcp.tools.add(tool({
    name: 'open_orders',
    description: 'The open orders of the caller.',
    output: Type.Object({ ids: Type.Array(Type.Integer()) }),
    run: (_args, call) => {
      call.progress(1, 1)
      return {
        ids: app.store.orders
          .filter(({ open, customer }) => open && customer === call.identity.principal)
          .map(({ id }) => id)
      }
    }
  }))
  app.mcp.tools.add(tool({
    name: 'close_order',
    description: 'Closes an order.',
    scopes: ['orders'],
    input: Type.Object({ id: Type.Integer() }),
    run: ({ id }) => {
      app.store.orders = app.store.orders.map(order => order.id === id ? { ...order, open: false } : order)
      return `order ${id} is closed`
    }
  }))
}

/** A route of the application that calls a tool in the name of its caller. */
function answerByTool (app: FastifyInstance): void {
  app.get('/open-orders', async (request, reply) => {
    if (request.identity === undefined) return await reply.code(401).send()
    const client = await createClient(app, { identity: request.identity })
    try {
      return (await client.call('open_orders')).output
    } finally {
      client.close()
    }
  })
}
