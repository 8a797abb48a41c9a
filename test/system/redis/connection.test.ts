import t from 'tap'
import { connectRedis } from '../../../system/redis/connection.js'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'

t.test('an event loop that was blocked is not taken for a Redis that does not answer', withRedis, async t => {
  const { url } = await redisServer(t)
  const troubles: unknown[] = []
  const link = await connectRedis(url, why => { if (why !== undefined) troubles.push(why) })
  t.teardown(() => link.close())
  await link.command('PING')
  for (let time = 0; time < 3; time++) {
    const reply = link.command('PING')
    for (const end = performance.now() + 400; performance.now() < end;);
    t.equal(await reply, 'PONG')
  }
  t.strictSame(troubles, [])
})
