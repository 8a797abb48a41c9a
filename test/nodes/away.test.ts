import t from 'tap'
import { listening } from '../support/gateway.js'
import { HttpSession, openSession } from '../support/http-session.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { until } from '../support/wait.js'

t.test('a session that was opened while Redis was away is served by all nodes once it is back', withRedis, async t => {
  const redis = await redisServer(t)
  const [one, two] = [await listening(t, { redis: redis.url }), await listening(t, { redis: redis.url })]
  await redis.kill()
  const session = await openSession(one.url)
  const elsewhere = new HttpSession(two.url, session.id)
  t.equal((await elsewhere.post({ id: 1, method: 'ping' })).status, 503)
  await redis.start()
  await until(async () => (await elsewhere.post({ id: 1, method: 'ping' })).status === 200, 'the other node serves the session')
  t.equal((await session.post({ id: 2, method: 'ping' })).status, 200)
})
