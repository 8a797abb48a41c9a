import t from 'tap'
import { onRedis } from '../../support/environment/on-redis.js'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'
import { contract, sharedContract } from '../contract.js'

t.test('redis', withRedis, async t => {
  const { url } = await redisServer(t)
  contract(t, 'redis', async t => await onRedis(t, url))
  contract(t, 'redis, another node', async t => await onRedis(t, url, true))
  sharedContract(t, 'redis', async t => await onRedis(t, url))
})
