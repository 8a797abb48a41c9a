import { Listeners } from '../../lib/listeners.js'
import type { Store } from '../../protocol/store.js'
import { connectRedis } from '../../system/redis/connection.js'
import { ChangeFeed } from './change-feed.js'
import { RedisConnection } from './connection.js'
import { Keys } from './keys.js'
import { RedisNodes } from './nodes.js'
import { RedisSessions } from './sessions.js'
import { RedisValues } from './values.js'

export interface RedisStoreOptions {
  /** Takes what an operator should change, each sentence once. */
  onWarning?: (sentence: string) => void
  /** The id of this node; a new one if there is none. */
  node?: string
}

/**
 * A store in Redis, which makes this process a node beside others that use it. Does not throw if Redis cannot be
 * reached.
 */
export async function redisStore (
  url: string,
  prefix: string,
  { onWarning = () => {}, node }: RedisStoreOptions = {}
): Promise<Store> {
  const failureListeners = new Listeners<[]>()
  const warn = once(onWarning)
  const notify = (): void => failureListeners.notify()
  const [link, reading] = await Promise.all([connectRedis(url, notify), connectRedis(url, () => {})])
  const redis = new RedisConnection(link, notify, warn)
  const keys = new Keys(prefix)
  const nodes = new RedisNodes(
    redis,
    keys,
    () =>
      warn(
        `Another process has the same node id, ${nodes.self}, so that messages reach the wrong one: restart one of them`
      ),
    node
  )
  const feed = new ChangeFeed(link, reading, keys, nodes.self)
  nodes.onGap(() => feed.doubt())
  await Promise.all([redis.start(), nodes.start(), feed.start()])
  const close = async (): Promise<void> => {
    feed.close()
    await nodes.close()
    for (const connection of [link, reading]) connection.close()
  }
  // A second time, the commands would wait for a connection that is gone.
  let closing: Promise<void> | undefined
  return {
    kind: 'redis',
    values: new RedisValues(redis, keys, feed),
    sessions: new RedisSessions(redis, keys, nodes),
    nodes,
    get failure () {
      return redis.failure
    },
    onFailureChange: listener => failureListeners.add(listener),
    close: async () => await (closing ??= close())
  }
}

function once (listener: (sentence: string) => void): (sentence: string) => void {
  const known = new Set<string>()
  return sentence => {
    if (known.has(sentence)) return
    known.add(sentence)
    listener(sentence)
  }
}
