import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readServerInfo } from '../../../stores/redis/connection.js'
import { onRedis } from '../../support/environment/on-redis.js'
import { allKeys, readyStore, redisLink } from '../../support/environment/redis-commands.js'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { listening } from '../../support/gateway.js'
import { HttpSession, openSession, slow } from '../../support/http-session.js'
import { until } from '../../support/wait.js'
import { nodes } from '../contract/nodes.js'
import { sessions } from '../contract/sessions.js'

/** The rights that a node needs, as the documentation gives them. */
const [, ACL = ''] =
  /ACL SETUSER patchbay on >PASSWORD (.*)$/m.exec(
    await readFile(new URL('../../../../docs/scale-out.md', import.meta.url), 'utf8')
  ) ?? []

t.test('every script uses keys of one slot, so that a cluster of one node serves all', withRedis, async t => {
  const { url, port } = await redisServer(t, { 'cluster-enabled': 'yes' })
  const link = await redisLink(t, url)
  await link.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
  await until(
    async () => String(await link.command('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    `the cluster at ${port} works`
  )
  t.test('nodes', async t => { t.jobs = 1; nodes(t, async t => await onRedis(t, url)) })
  t.test('sessions', async t => { t.jobs = 1; sessions(t, async t => await onRedis(t, url)) })
  t.test('values', async t => {
    const { store: { values } } = await onRedis(t, url)
    await values.put('space', 'key', 1, { max: 10 })
    t.equal(await values.increment('space', 'key', 1), 2)
    t.strictSame(await values.list('space'), [{ key: 'key', value: 2 }])
    t.equal(await values.take('space', 'key'), 2)
    t.equal(await values.delete('space', 'key'), false)
  })
})

t.test('a user with the rights of the prefix suffices, and all names begin with it', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  await link.command('ACL', 'SETUSER', 'patchbay', 'on', '>secret', ...ACL.split(' '))
  await link.command('CONFIG', 'RESETSTAT')
  const url = redis.url.replace('//', '//patchbay:secret@')
  const [one, two] = [await listening(t, { redis: url }), await listening(t, { redis: url })]
  const session = await openSession(one.url)
  const reply = await new HttpSession(two.url, session.id).stream(slow(1, 5, 5))
  t.match((await reply.rest()).at(-1), { data: /5 steps/ })
  await one.app.mcp.store.values.put('space', 'key', 1)
  t.equal(await two.app.mcp.store.values.get('space', 'key'), 1)
  t.equal(await one.app.mcp.store.nodes.isAlive(two.app.mcp.store.nodes.self ?? ''), true)
  t.equal(await one.app.mcp.store.nodes.isAlive('0123456789ab'), false)
  t.equal(one.app.mcp.health.now().status, 'healthy')
  t.strictSame((await allKeys(link)).filter(key => !key.startsWith('patchbay:')), [])
  t.notMatch(String(await link.command('INFO', 'commandstats')), /rejected_calls=[1-9]/)
  t.strictSame(await link.command('ACL', 'LOG'), [])
})

t.test('a password, a database number and a prefix keep gateways apart', withRedis, async t => {
  const redis = await redisServer(t)
  await redis.send('CONFIG SET requirepass canary-81')
  const url = redis.url.replace('//', '//:canary-81@')
  const stores = await Promise.all(
    [
      [url, 'a:'],
      [url, 'b:'],
      [`${url}/3`, 'a:']
    ].map(async ([url = '', prefix = '']) => await readyStore(url, prefix))
  )
  t.teardown(async () => await Promise.all(stores.map(async store => await store.close())))
  for (const [index, { values, sessions }] of stores.entries()) {
    await values.put('space', 'key', index)
    await sessions.save('s', { ...RECORD, client: { index } }, TOMORROW)
  }
  for (const [index, { values, sessions, failure }] of stores.entries()) {
    t.equal(failure, undefined)
    t.equal(await values.get('space', 'key'), index)
    t.match(await sessions.load('s'), { record: { client: { index } } })
  }
})

t.test('an operator is warned of a server that drops keys, is a replica or is too old', withRedis, async t => {
  const redis = await redisServer(t, { maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' })
  const warnings: string[] = []
  const store = await readyStore(redis.url, 'p:', { onWarning: sentence => { warnings.push(sentence) } })
  t.teardown(async () => await store.close())
  await until(() => warnings.length > 0, 'a warning')
  t.match(warnings, [/maxmemory-policy is allkeys-lru: set it to noeviction/])
  t.equal(store.failure, undefined)
  t.strictSame(
    readServerInfo('redis_version:7.0.15\r\nmaxmemory_policy:noeviction\r\nrole:master\r\ncluster_enabled:0\r\n'),
    { unfit: undefined, warnings: [] }
  )
  t.match(
    readServerInfo('redis_version:6.2.14\r\n').unfit,
    /version 6.2.14, which is too old: use Redis 7.0 or Valkey 7.2/
  )
  t.match(readServerInfo('redis_version:7.2.4\r\nrole:slave\r\n'), { unfit: undefined, warnings: [/is a replica/] })
  t.strictSame(readServerInfo(''), { unfit: undefined, warnings: [] })
})
