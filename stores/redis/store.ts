import { Listeners } from '../../lib/listeners.js'
import type { Store } from '../../protocol/store.js'
import { connectRedis } from '../../system/redis/connection.js'
import { ChangeFeed } from './change-feed.js'
import { RedisConnection } from './connection.js'
import { Keys } from './keys.js'
import { RedisNodes } from './nodes.js'
import { RedisSessions } from './sessions.js'
import { RedisValues } from './values.js'

/** A store in Redis, which makes this process a node beside others that use it. Does not throw if Redis cannot be reached. */
export async function redisStore (url: string, prefix: string): Promise<Store> {
  const failureListeners = new Listeners<[]>()
  const [link, reading] = await Promise.all([connectRedis(url, () => failureListeners.notify()), connectRedis(url, () => {})])
  const redis = new RedisConnection(link)
  const keys = new Keys(prefix)
  const nodes = new RedisNodes(redis, keys)
  const feed = new ChangeFeed(link, reading, keys, nodes.self)
  await Promise.all([nodes.start(), feed.start()])
  return {
    kind: 'redis',
    values: new RedisValues(redis, keys, feed),
    sessions: new RedisSessions(redis, keys, nodes),
    nodes,
    get failure () { return link.trouble === undefined ? undefined : `Redis ${link.trouble}` },
    onFailureChange: listener => failureListeners.add(listener),
    close: async () => {
      feed.close()
      await nodes.close()
      for (const connection of [link, reading]) connection.close()
    }
  }
}
