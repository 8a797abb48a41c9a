import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import { patchbay, type Options } from '../../app.js'
import fixture from './gateway.js'
import { modernMeta } from './modern.js'

/** A host application with routes of its own, and Patchbay under /ai. */
export async function host (
  t: Test,
  before: (app: FastifyInstance) => unknown = () => {},
  options: Partial<Options> = {},
  server: FastifyServerOptions = {}
): Promise<FastifyInstance> {
  const app = Fastify(server)
  t.teardown(async () => await app.close())
  await before(app)
  await app.register(patchbay, {
    prefix: '/ai',
    plugins: [fixture],
    grace: 1_000,
    ...options,
    limits: { maxEventLoopDelay: 60_000, ...options.limits }
  })
  app.get('/own', async () => ({ own: true }))
  app.post('/own', async ({ body }) => ({ body, type: typeof body }))
  app.get('/own/broken', async () => {
    throw Object.assign(new Error('own mistake'), { statusCode: 418 })
  })
  await app.ready()
  return app
}

/** Requests that are answered as JSON, and as an event stream. */
export const asJson = modernPost('echo', { text: 'hi' })
export const asStream = modernPost('slow', { steps: 2, delay: 1 })

export function modernPost (name: string, args: object, more: object = {}) {
  return {
    method: 'POST' as const,
    url: '/ai/mcp',
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args, _meta: { ...modernMeta(), progressToken: 'p' }, ...more }
    }
  }
}
