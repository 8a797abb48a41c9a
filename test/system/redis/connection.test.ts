import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type RedisClientType } from '@redis/client'
import t from 'tap'
import { connectRedis, describeFailure, RedisLink } from '../../../system/redis/connection.js'
import { freePort, redisServer, withRedis } from '../../support/environment/redis-server.js'
import { until } from '../../support/wait.js'

t.test('an event loop that was blocked is not taken for a Redis that does not answer', withRedis, async t => {
  const { url } = await redisServer(t)
  const troubles: unknown[] = []
  const link = await connectRedis(url, why => { if (why !== undefined) troubles.push(why) })
  t.teardown(() => link.close())
  await until(() => link.isReady, 'Redis is reached')
  troubles.length = 0
  for (let time = 0; time < 3; time++) {
    const reply = link.command('PING')
    for (const end = performance.now() + 400; performance.now() < end;);
    t.equal(await reply, 'PONG')
  }
  t.strictSame(troubles, [])
})

t.test('a link that is closed while it connects leaves no connection', withRedis, async t => {
  const { url } = await redisServer(t)
  const observer = await connectRedis(url, () => {})
  t.teardown(() => observer.close())
  await until(() => observer.isReady, 'Redis is reached')
  for (let count = 0; count < 10; count++) {
    const link = new RedisLink(createClient({ url, pingInterval: 100 }) as unknown as RedisClientType, () => {})
    const started = link.start()
    link.close()
    await started
  }
  const info = async (part: string, name: string): Promise<number> =>
    Number(new RegExp(`${name}:(\\d+)`).exec(String(await observer.command('INFO', part)))?.[1])
  await until(async () => await info('stats', 'total_connections_received') >= 11, 'all were connected')
  await until(async () => await info('clients', 'connected_clients') === 1, 'all are gone', 10_000)
})

t.test('each mistake in the URL of a real server is named', withRedis, async t => {
  const redis = await redisServer(t)
  const { port } = redis
  await redis.send('CONFIG SET requirepass the-password')
  const http = createHttpServer((_request, reply) => reply.end()).listen(0, '127.0.0.1')
  t.teardown(() => http.close())
  await once(http, 'listening')
  for (const [url, why] of [
    [`redis://:canary@127.0.0.1:${port}`, 'refuses the user or the password of option redis'],
    [`redis://ada:canary@127.0.0.1:${port}`, 'refuses the user or the password of option redis'],
    [`redis://127.0.0.1:${port}`, 'wants a password, and option redis has none'],
    [`redis://:the-password@127.0.0.1:${port}/77`, 'has no database of the number in option redis'],
    [`redis://127.0.0.1:${await freePort()}`, 'cannot be reached'],
    ['redis://patchbay.invalid:6379', 'cannot be reached (the host name in option redis is not known)'],
    [
      `redis://127.0.0.1:${(http.address() as AddressInfo).port}`,
      'cannot be reached (another program answers at the port in option redis)'
    ],
    [
      `rediss://:the-password@127.0.0.1:${port}`,
      'cannot be reached (does it speak TLS? option redis begins with rediss://)'
    ]
  ] as const) {
    const link = await connectRedis(url, () => {})
    t.teardown(() => link.close())
    await until(() => link.trouble === why || (link.trouble !== undefined && link.trouble !== 'cannot be reached'), url)
    t.equal(link.trouble, why, url)
    link.close()
  }
})

t.test('other errors of TLS are named, and what is not known is not guessed', async t => {
  t.match(
    describeFailure(Object.assign(new Error('x'), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }), true),
    /does not speak TLS/
  )
  t.match(
    describeFailure(Object.assign(new Error('x'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), true),
    /certificate is not trusted/
  )
  t.equal(describeFailure(new Error('Connection timeout'), false), 'cannot be reached')
  t.equal(describeFailure(new Error('Socket closed unexpectedly'), true), 'cannot be reached')
})
