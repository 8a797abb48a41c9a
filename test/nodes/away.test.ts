import t from 'tap'
import { listening } from '../support/gateway.js'
import { HttpSession, openSession } from '../support/http-session.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { until } from '../support/wait.js'

t.test(
  'no session is opened while Redis is away; those that are there are served by all nodes once it is back',
  withRedis,
  async t => {
    const redis = await redisServer(t)
    const [one, two] = [await listening(t, { redis: redis.url }), await listening(t, { redis: redis.url })]
    await redis.kill()
    await t.rejects(openSession(one.url), { message: 'no session: 503' })
    await redis.start()
    let session: HttpSession | undefined
    await until(
      async () => (session = await openSession(one.url).catch(() => undefined)) !== undefined,
      'a session is opened'
    )
    const elsewhere = new HttpSession(two.url, session?.id ?? '')
    await until(
      async () => (await elsewhere.post({ id: 1, method: 'ping' })).status === 200,
      'the other node serves the session'
    )
  }
)
