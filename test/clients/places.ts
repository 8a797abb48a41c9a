import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Options } from '../../app.js'
import { startNginx } from '../support/environment/nginx.js'
import { redisServer } from '../support/environment/redis-server.js'
import { listening } from '../support/gateway.js'
import { withNodes } from '../support/nodes/three-nodes.js'

/** What clients reach under one URL: one gateway, or several that share a store. */
export interface Site { url: string, apps: FastifyInstance[] }

export type Serve = (t: Test, options?: Partial<Options>) => Promise<Site>

/** Where the same script is run. */
export const places: ReadonlyArray<{ place: string, needs: { skip?: string | boolean }, serve: Serve }> = [
  { place: 'one gateway', needs: {}, serve: serveOne },
  { place: 'three nodes behind nginx', needs: withNodes, serve: serveThree }
]

/** One gateway. */
export async function serveOne (t: Test, options: Partial<Options> = {}): Promise<Site> {
  const { app, url } = await listening(t, options)
  return { url, apps: [app] }
}

/** Each request goes to the next node. */
async function serveThree (t: Test, options: Partial<Options> = {}): Promise<Site> {
  const { url: redis } = await redisServer(t)
  const nodes = await Promise.all([1, 2, 3].map(async () => await listening(t, { ...options, redis })))
  const { port } = await startNginx(t, nodes.map(({ url }) => new URL(url).host))
  return { url: `http://127.0.0.1:${port}`, apps: nodes.map(({ app }) => app) }
}
