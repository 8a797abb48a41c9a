import { fileURLToPath } from 'node:url'
import { freePort, RedisServer } from '../../support/environment/redis-server.js'
import { rssOf } from '../../load/vitals.js'
import { Gateway, onCleanUp, temporary } from '../gateway.js'
import { Relay } from './relay.js'

const PLUGIN = fileURLToPath(new URL('plugin.js', import.meta.url))
const NODES = 3
const MIB = 1024 * 1024

/** Where the nodes find Redis: directly, all through one relay, or one of them through it. */
export type Route = 'direct' | 'all' | 'one'

/** A gateway, and whether it is being harmed: what is asked of it meanwhile may fail. */
export interface Node {
  readonly gateway: Gateway
  harmed: boolean
  /** When it was killed, on the clock of `performance`. */
  killedAt: number
  readonly rss: number
}

/** Three gateways on a Redis of their own. */
export class Cluster {
  readonly redis: RedisServer
  readonly relay: Relay
  readonly nodes: Node[] = []
  /** True while something is harmed: sessions that are opened meanwhile may be unknown to other nodes. */
  isHarmed = false
  /** How many gateways ended without having been killed. */
  exits = 0
  #turn = 0

  private constructor (redis: RedisServer, relay: Relay) {
    this.redis = redis
    this.relay = relay
  }

  static async start (route: Route = 'direct', settings: Record<string, string> = {}): Promise<Cluster> {
    const redis = await startRedis(settings)
    const relay = await Relay.start(redis.port)
    onCleanUp(async () => await relay.stop())
    const cluster = new Cluster(redis, relay)
    const gateways = await Promise.all(Array.from({ length: NODES }, async (_, index) => {
      const url = route === 'all' || (route === 'one' && index === 0) ? cluster.relay.url : redis.url
      return await Gateway.start({
        args: ['--plugin', PLUGIN],
        env: { PATCHBAY_REDIS: url, PATCHBAY_LIMITS: 'maxEventLoopDelay=60000' }
      })
    }))
    for (const gateway of gateways) {
      cluster.nodes.push({ gateway, harmed: false, killedAt: Infinity, rss: rssOf(gateway.pid) / MIB })
      void cluster.#watch(gateway)
    }
    return cluster
  }

  /** The node that is harmed when only one is. */
  get victim (): Node {
    return this.nodes[0] as Node
  }

  /** The others. */
  get others (): Node[] {
    return this.nodes.slice(1)
  }

  /** The next node in turn of those that are not harmed. */
  next (): Node {
    const able = this.nodes.filter(({ harmed }) => !harmed)
    return able[this.#turn++ % able.length] as Node
  }

  /** Starts the victim again, which was killed. */
  async restart (): Promise<void> {
    await this.victim.gateway.start()
    void this.#watch(this.victim.gateway)
  }

  /** Memory in use at the start and now, of the nodes together, in MiB. */
  get memory (): { before: number, after: number } {
    const sum = (of: (node: Node) => number): number => this.nodes.reduce((total, node) => total + of(node), 0)
    return {
      before: sum(({ rss }) => rss),
      after: sum(({ gateway }) => (gateway.pid === 0 ? 0 : rssOf(gateway.pid) / MIB))
    }
  }

  /** How often each warning was logged, by its text. */
  get warnings (): Map<string, number> {
    const texts = this.nodes
      .flatMap(({ gateway }) => gateway.warnings)
      .map(line => /"msg":"([^"]*)/.exec(line)?.[1] ?? line)
    return new Map([...new Set(texts)].map(text => [text, texts.filter(other => other === text).length]))
  }

  /** Lines about errors that no code handled. */
  get unhandled (): string[] {
    return this.nodes
      .flatMap(({ gateway }) => gateway.complaints)
      .filter(line => /unhandled|uncaught|^\s+at /i.test(line))
  }

  async stop (): Promise<void> {
    for (const node of this.nodes) node.harmed = true
    await Promise.all(this.nodes.map(async ({ gateway }) => await gateway.end()))
    await this.relay.stop()
    await this.redis.kill()
  }

  async #watch (gateway: Gateway): Promise<void> {
    await gateway.over
    if (this.nodes.find(node => node.gateway === gateway)?.harmed !== true) this.exits++
  }
}

/** A Redis with a folder of its own. */
export async function startRedis (settings: Record<string, string> = {}): Promise<RedisServer> {
  const redis = new RedisServer(await freePort(), { dir: temporary(), ...settings })
  onCleanUp(async () => await redis.kill())
  await redis.start()
  return redis
}
