import t from 'tap'
import type { SessionRecord } from '../../protocol/store.js'
import { onRedis } from '../support/environment/on-redis.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'

const record: SessionRecord = {
  revision: undefined,
  initialized: true,
  client: undefined,
  capabilities: {},
  logLevel: 'info',
  subscriptions: [],
  principal: undefined
}
const ROUNDS = 20
const EVENTS = 30

t.test('events keep their order at a Redis that does not know the scripts yet', withRedis, async t => {
  const redis = await redisServer(t)
  for (let round = 0; round < ROUNDS; round++) {
    await redis.send('SCRIPT FLUSH')
    const { store: { sessions } } = await onRedis(t, redis.url)
    await sessions.save('s', record, Date.now() + 60_000)
    await sessions.open('s', 'a', 'interrupted')
    const appended: Array<Promise<unknown>> = []
    for (let event = 0; event < EVENTS; event++) {
      appended.push(sessions.append('s', 'a', { text: String(event), method: 'm' }, true))
      await new Promise(resolve => { setImmediate(resolve) })
    }
    await Promise.all(appended)
    const texts = (await sessions.read('s', 'a', 0))?.events.map(({ text }) => Number(text))
    t.strictSame(texts, Array.from({ length: EVENTS }, (_, event) => event))
  }
})
