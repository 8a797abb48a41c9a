import { freePort, RedisServer } from '../../support/environment/redis-server.js'
import { startNginx } from '../../support/environment/nginx.js'
import { Gateway } from '../gateway.js'

const NODES = 3

/** Three gateways on a Redis of their own, behind nginx, which gives each the next request. */
export class Cluster {
  readonly redis: RedisServer
  readonly nodes: Gateway[] = []
  port = 0
  readonly #endings: Array<() => unknown> = []

  private constructor (redis: RedisServer) {
    this.redis = redis
  }

  static async start (env: Record<string, string>, plugins: string[] = []): Promise<Cluster> {
    const cluster = new Cluster(new RedisServer(await freePort()))
    try {
      await cluster.#start(env, plugins)
      return cluster
    } catch (error) {
      await cluster.stop()
      throw error
    }
  }

  /** Ends everything; how the gateways ended. */
  async stop (): Promise<unknown[]> {
    for (const end of this.#endings) await end()
    const ends = await Promise.all(this.nodes.map(async node => await node.stop()))
    await this.redis.kill()
    return ends
  }

  get complaints (): string[] {
    return this.nodes.flatMap(({ complaints }) => complaints)
  }

  async #start (env: Record<string, string>, plugins: string[]): Promise<void> {
    await this.redis.start()
    const limits = { PATCHBAY_LIMITS: 'maxEventLoopDelay=60000,maxSessions=100000' }
    this.nodes.push(
      ...(await Promise.all(
        Array.from(
          { length: NODES },
          async () =>
            await Gateway.start({
              ephemeral: true,
              plugins,
              env: { PATCHBAY_REDIS: this.redis.url, ...limits, ...env }
            })
        )
      ))
    )
    const addresses = this.nodes.map(({ port }) => `127.0.0.1:${port}`)
    this.port = (await startNginx({ teardown: end => { this.#endings.push(end) } }, addresses, keepOpen)).port
  }
}

/**
 * nginx closes a connection after 1,000 requests, and each client of the load programs has one for all of its calls.
 */
const keepOpen = (site: string): string => site.replace('server_name', 'keepalive_requests 1000000000;\n  server_name')
