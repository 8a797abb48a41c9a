import { openSessions } from '../../load/sessions.js'
import type { Finding } from '../../measure/goal.js'
import { withFixedYoungGeneration } from '../../measure/memory.js'
import { inRounds, type Setting } from '../../measure/rounds.js'
import { median, short, spreadOf } from '../../measure/statistics.js'
import { inMemory, onRedis, withRedisClient, type Cluster } from '../../servers/nodes.js'
import { sessions, weightOf } from '../idle.js'

const COUNT = 2_000
const SAMPLES = 3

/** How much memory an idle session takes of a node and of Redis, in KiB. */
export async function weights (cluster: Cluster, setting: Setting): Promise<Finding[]> {
  setting.say('nodes, idle sessions')
  const node = onRedis(cluster.redis.port)
  const contestants = [inMemory, node].map(server => ({
    server,
    sample: async () => await weightOf(withFixedYoungGeneration(server), sessions)
  }))
  const found = await inRounds(contestants, Math.min(SAMPLES, setting.rounds), setting)
  const [base = [], own = []] = [found.get(inMemory), found.get(node)]
  return [
    { what: 'nodes, idle session, KiB', ours: spreadOf(own), limit: `${short(median(base))} KiB in memory`, peers: [] },
    { what: 'nodes, idle session in Redis, KiB', ours: spreadOf([await weightInRedis(cluster)]), limit: '-', peers: [] }
  ]
}

async function weightInRedis ({ redis, first }: Cluster): Promise<number> {
  return await withRedisClient(redis, async client => {
    const used = async (): Promise<number> => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
    const before = await used()
    await openSessions(first.port, COUNT, { confirm: true })
    return (await used() - before) / COUNT / 1024
  })
}
