import t from 'tap'
import type { Store } from '../../../protocol/store.js'
import { onRedis } from '../../support/environment/on-redis.js'
import { redisLink } from '../../support/environment/redis-commands.js'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'
import { gateway } from '../../support/gateway.js'
import { apiKeys, ADA, bearer } from '../../support/keys.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { until } from '../../support/wait.js'

const FULL = { message: 'Storage failed: Redis has no memory left: raise its maxmemory' }

/** Work that needs memory, after what is there for it to begin with. */
const WRITES: Record<string, [prepare: (store: Store) => Promise<unknown>, write: (store: Store) => Promise<unknown>]> =
  {
    'a new session': [async () => {}, async ({ sessions }) => await sessions.save('new', RECORD, TOMORROW)],
    'a session that is there': [
      async ({ sessions }) => await sessions.save('s', RECORD, TOMORROW),
      async ({ sessions }) => await sessions.save('s', RECORD, TOMORROW)
    ],
    'a session of a caller': [
      async () => {},
      async ({ sessions }) => await sessions.save('new', { ...RECORD, principal: 'p' }, TOMORROW)
    ],
    'a change of a session': [
      async ({ sessions }) => await sessions.save('s', { ...RECORD, subscriptions: ['a:b'] }, TOMORROW),
      async ({ sessions }) =>
        await sessions.update(
          's',
          {
            subscriptions: new Map([
              ['a:b', false],
              ['c:d', true]
            ])
          },
          TOMORROW
        )
    ],
    'an event': [
      async ({ sessions }) => await sessions.save('s', RECORD, TOMORROW),
      async ({ sessions }) => await sessions.append('s', 'r1', { method: 'm', text: 'x' }, false)
    ],
    'a value where others have expired': [expire, async ({ values }) => await values.put('space', 'new', 1)],
    'a value in place of one that has expired': [expire, async ({ values }) => await values.put('space', 'old', 1)],
    'a number where values have expired': [expire, async ({ values }) => await values.increment('space', 'new', 1)]
  }

async function expire ({ values }: Store): Promise<void> {
  await values.put('space', 'stays', 1)
  await values.put('space', 'old', 1, { expires: Date.now() + 20 })
  await until(async () => await values.get('space', 'old') === undefined, 'the value expires')
}

t.test('a full Redis refuses', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  for (const [name, [prepare, write]] of Object.entries(WRITES)) {
    t.test(name, async t => {
      const { store } = await onRedis(t, redis.url)
      await prepare(store)
      await whileFull(link, async () => {
        await t.rejects(write(store), FULL)
      })
    })
  }
})

t.test('initialize is answered with 503 while Redis is full, and nothing is left of it', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  const app = await gateway(t, { redis: redis.url, apiKeys })
  const initialize = async () =>
    await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: bearer(ADA),
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { capabilities: { experimental: { pad: { text: 'x'.repeat(60_000) } } } }
      }
    })
  await whileFull(link, async () => {
    const reply = await initialize()
    t.match(
      [reply.statusCode, reply.headers['retry-after'], reply.json()],
      [
        503,
        '1',
        {
          id: 1,
          error: {
            code: -32603,
            message: /^Redis has no memory left: raise its maxmemory$/,
            data: { code: 'PATCHBAY_SESSIONS_UNAVAILABLE' }
          }
        }
      ]
    )
    t.strictSame((await link.command('KEYS', '*{s:*') as string[]), [])
  })
  await until(async () => (await initialize()).statusCode === 200, 'there is memory again')
})

async function whileFull (link: Awaited<ReturnType<typeof redisLink>>, work: () => Promise<void>): Promise<void> {
  await link.command('CONFIG', 'SET', 'maxmemory', '1')
  try {
    await work()
  } finally {
    await link.command('CONFIG', 'SET', 'maxmemory', '0')
  }
}
