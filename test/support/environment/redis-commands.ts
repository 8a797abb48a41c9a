import type { Test } from 'tap'
import type { Store } from '../../../protocol/store.js'
import { redisStore, type RedisStoreOptions } from '../../../stores/redis/store.js'
import { connectRedis, type RedisLink } from '../../../system/redis/connection.js'
import { until } from '../wait.js'

/** A connection of the test's own, which is ready, and closed when the test ends. */
export async function redisLink (t: Test, url: string): Promise<RedisLink> {
  const link = await connectRedis(url, () => {})
  t.teardown(() => link.close())
  await until(() => link.isReady, 'Redis is reached')
  return link
}

/** A store that has reached its Redis, however busy the machine is: the start of a store does not wait for that. */
export async function readyStore (url: string, prefix: string, options: RedisStoreOptions = {}): Promise<Store> {
  const store = await redisStore(url, prefix, options)
  await until(() => store.failure === undefined, 'the store has reached Redis')
  return store
}

/** How many commands of these names Redis has carried out, and how many of them failed. */
export async function commandCounts (link: RedisLink, ...names: string[]): Promise<{ calls: number, failed: number }> {
  const stats = String(await link.command('INFO', 'commandstats'))
  const lines = names.map(name => new RegExp(`^cmdstat_${name}:calls=(\\d+),.*failed_calls=(\\d+)`, 'm').exec(stats))
  const sum = (group: number): number => lines.reduce((total, line) => total + Number(line?.[group] ?? 0), 0)
  return { calls: sum(1), failed: sum(2) }
}

/** All keys, in their order. */
export async function allKeys (link: RedisLink): Promise<string[]> {
  return (await link.command('KEYS', '*') as string[]).sort()
}
