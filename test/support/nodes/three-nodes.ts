import { startNginx, withNginx, type Nginx, type Served } from '../environment/nginx.js'
import { dataFolder } from '../environment/on-disk.js'
import { redisServer, withRedis, type RedisServer } from '../environment/redis-server.js'
import type { Owner } from '../owner.js'
import { freePort, Gateway } from '../restarting.js'
import { serveBoard } from './shared-board.js'

/** For tests that need both: skipped where one is missing. */
export const withNodes = { skip: withNginx.skip || withRedis.skip }

export interface NodesOptions {
  /** The files of plugins. */
  plugins: string[]
  env?: Record<string, string>
  args?: string[]
  /** Changes deploy/nginx-nodes.conf. */
  change?: (site: string) => string
}

/** Three gateways of the command that share a Redis, behind nginx with deploy/nginx-nodes.conf. */
export interface ThreeNodes {
  /** The URL of nginx. */
  url: string
  nodes: Gateway[]
  redis: RedisServer
  nginx: Nginx
}

/** Changes deploy/nginx-nodes.conf as it says, so that requests of a session go to one node. */
export function sticky (site: string): string {
  const [line = ''] = /^ +# hash .*$/m.exec(site) ?? []
  return site
    .replace(line, '')
    .replace(/ +server .* backup;\n/g, '')
    .replace(/^ +server /m, servers => `${line.replace('# ', '')}\n${servers}`)
}

export async function startNodes (
  t: Owner,
  { plugins, env = {}, args = [], change }: NodesOptions
): Promise<ThreeNodes> {
  const nodes: Gateway[] = []
  const [redis, board, data] = [
    await redisServer(t),
    await serveBoard(t, () => nodes.map(({ url }) => url)),
    await dataFolder(t)
  ]
  const all = [...plugins.flatMap(file => ['--plugin', file]), ...args]
  const start = async (tries = 3): Promise<Gateway> => {
    const node = new Gateway(t, await freePort(), data, all, { TEST_BOARD: board, PATCHBAY_REDIS: redis.url, ...env })
    // Another program may have taken the port meanwhile.
    return await node.start().then(
      () => node,
      async error => {
        if (tries > 1) return await start(tries - 1)
        throw error
      }
    )
  }
  nodes.push(...(await Promise.all([start(), start(), start()])))
  const nginx = await startNginx(
    t,
    nodes.map(({ port }) => `127.0.0.1:${port}`),
    change
  )
  return { url: `http://127.0.0.1:${nginx.port}`, nodes, redis, nginx }
}

/** How many of the requests each node served, as a share of all. */
export function sharesOf ({ nodes }: ThreeNodes, served: Served[]): number[] {
  return nodes.map(
    ({ port }) => served.filter(({ nodes }) => nodes.at(-1) === `127.0.0.1:${port}`).length / served.length
  )
}

/** Adds up a number that each node says of itself. */
export async function sumOf ({ nodes }: ThreeNodes, what: 'sessions' | 'peers'): Promise<number> {
  const counts = await Promise.all(
    nodes.map(async ({ url }) => ((await (await fetch(`${url}/health`)).json()) as Record<string, number>)[what] ?? 0)
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
