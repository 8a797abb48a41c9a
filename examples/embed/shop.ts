import underPressure from '@fastify/under-pressure'
import websocket from '@fastify/websocket'
import type { FastifyError, FastifyInstance } from 'fastify'

export interface Order { id: number, customer: string, open: boolean }

declare module 'fastify' {
  interface FastifyInstance {
    store: { orders: Order[] }
    health: () => string
  }
}

/** Who has which token. A real application asks its database. */
export const TOKENS: Record<string, { id: string, scopes: string[] }> = {
  'token-of-ada': { id: 'ada', scopes: ['mcp', 'orders'] },
  'token-of-bob': { id: 'bob', scopes: ['mcp'] }
}

const FRONTEND = 'https://shop.example.com'

/**
 * Says who is calling, for every route of the application. Patchbay reads `request.identity`, too, so this comes before
 * it.
 */
export function identifyCallers (app: FastifyInstance): void {
  app.decorateRequest('identity')
  app.addHook('onRequest', async request => {
    const user = TOKENS[request.headers.authorization?.replace(/^Bearer /, '') ?? '']
    if (user !== undefined) request.identity = { principal: user.id, scopes: new Set(user.scopes) }
  })
}

/** Everything that the application has besides MCP. */
export async function shop (app: FastifyInstance): Promise<void> {
  app.decorate('store', { orders: [{ id: 1, customer: 'ada', open: true }, { id: 2, customer: 'bob', open: false }] })
  app.decorate('health', () => 'the shop is open')
  app.setErrorHandler(
    async (error: FastifyError, _request, reply) =>
      await reply.code(error.statusCode ?? 500).send({ shopError: error.message })
  )
  await app.register(underPressure, { maxRssBytes: 2 ** 40, exposeStatusRoute: '/status' })
  await app.register(websocket)
  await app.register(async api => {
    allowFrontend(api)
    api.get('/orders', async request => {
      if (request.identity === undefined) throw Object.assign(new Error('send your token'), { statusCode: 401 })
      return api.store.orders
    })
    api.get('/broken', async () => { throw new Error('the shop is broken') })
    api.get('/health', async () => ({ health: api.health() }))
    api.get('/feed', { websocket: true }, socket => {
      socket.on('message', data => socket.send(`order ${String(data)} has come`))
    })
  })
}

/** CORS by hand, for the browsers of one other origin. */
function allowFrontend (api: FastifyInstance): void {
  api.addHook('onRequest', async (request, reply) => {
    if (request.headers.origin === FRONTEND) {
      reply.header('access-control-allow-origin', FRONTEND).header('vary', 'origin')
    }
  })
  api.options(
    '*',
    async (_request, reply) => await reply.code(204).header('access-control-allow-headers', 'authorization').send()
  )
}
