import t, { type Test } from 'tap'
import type { Store } from '../../../protocol/store.js'
import { commandCounts, readyStore, redisLink } from '../../support/environment/redis-commands.js'
import { redisServer, withRedis, type RedisServer } from '../../support/environment/redis-server.js'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { until } from '../../support/wait.js'

const event = (text: string, method = 'm') => ({ text, method })
const idOf = ({ nodes: { self = '' } }: Store): string => self

async function open (
  t: Test,
  { url }: RedisServer,
  onWarning?: (sentence: string) => void,
  node?: string
): Promise<Store> {
  const store = await readyStore(url, 'p:', { ...(onWarning && { onWarning }), ...(node && { node }) })
  t.teardown(async () => await store.close())
  return store
}

t.test(
  'a node is dead when its lease is gone, or when it missed a renewal and its connection is gone',
  withRedis,
  async t => {
    const redis = await redisServer(t)
    const link = await redisLink(t, redis.url)
    const [one, two] = [await open(t, redis), await open(t, redis)]
    t.equal(await one.nodes.isAlive(idOf(two)), true)
    await link.command('SET', 'p:node:0123456789ab', 'x', 'PX', '15000')
    t.equal(await one.nodes.isAlive('0123456789ab'), true, 'it has just renewed its lease')
    await link.command('SET', 'p:node:0123456789ab', 'x', 'PX', '11000')
    t.equal(await one.nodes.isAlive('0123456789ab'), false, 'it has not, and has no connection')
    await link.command('PEXPIRE', `p:node:${idOf(two)}`, '11000')
    t.equal(await one.nodes.isAlive(idOf(two)), true, 'a stopped process keeps its connection')
    await link.command('DEL', `p:node:${idOf(two)}`)
    t.equal(await one.nodes.isAlive(idOf(two)), false, 'until its lease is gone')
  }
)

t.test(
  'a message to a node is received by no one from the moment on at which that node has ended',
  withRedis,
  async t => {
    const redis = await redisServer(t)
    const one = await open(t, redis)
    for (let count = 0; count < 20; count++) {
      const two = await open(t, redis)
      t.equal(await one.nodes.send(idOf(two), { kind: 'waits', numbers: [] }), true)
      await two.close()
      t.equal(await one.nodes.send(idOf(two), { kind: 'waits', numbers: [] }), false)
    }
  }
)

t.test('a node that connects again after Redis stood still is not taken for dead', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  const { nodes } = await open(t, redis)
  await link.command('SET', 'p:node:0123456789ab', 'x', 'PX', '11000')
  const looking = nodes.isAlive('0123456789ab')
  // Its lease is old and its connection is gone, as it would be for a moment.
  await until(async () => (await commandCounts(link, 'pubsub', 'pubsub\\|numsub')).calls > 0, 'the first look')
  await link.command('SET', 'p:node:0123456789ab', 'x', 'PX', '15000')
  t.equal(await looking, true)
})

t.test(
  'a node whose lease was lost adds nothing to streams that others have finished or taken over',
  withRedis,
  async t => {
    const redis = await redisServer(t)
    const link = await redisLink(t, redis.url)
    const [one, two] = [await open(t, redis), await open(t, redis)]
    await one.sessions.save('s', RECORD, TOMORROW)
    await one.sessions.append('s', 'aa', event('1'), true, { begins: 'interrupted' })
    await one.sessions.append('s', '0', event('a'), true)
    await link.command('DEL', `p:node:${idOf(one)}`)
    await two.sessions.finish('s')
    t.equal(await two.sessions.moveHome('s', idOf(one)), true)
    t.equal(await one.sessions.append('s', 'aa', event('2'), true, { last: 1 }), 'ended')
    t.equal(await one.sessions.append('s', 'aa', event('answer', ''), true, { last: 1, ends: true }), 'ended')
    await one.sessions.end('s', 'aa')
    t.match(await two.sessions.read('s', 'aa', 0), {
      events: [{ text: '1' }, { text: 'interrupted', method: '' }],
      ended: true
    })
    t.equal((await two.sessions.read('s', 'aa', 0))?.events.length, 2)
    t.equal(await one.sessions.append('s', '0', event('b'), true), 'elsewhere', 'the new home sends it')
  }
)

t.test('two processes with one id are noticed', withRedis, async t => {
  const redis = await redisServer(t)
  const warnings: string[] = []
  await open(t, redis, sentence => { warnings.push(sentence) }, '0123456789ab')
  t.strictSame(warnings, [])
  await open(t, redis, sentence => { warnings.push(sentence) }, '0123456789ab')
  await until(() => warnings.length > 0, 'a warning')
  t.match(warnings[0], /Another process has the same node id, 0123456789ab/)
})

t.test(
  'a node learns that Redis has lost everything, and that changes were dropped before it read them',
  withRedis,
  async t => {
    const redis = await redisServer(t)
    const link = await redisLink(t, redis.url)
    const [one, two] = [await open(t, redis), await open(t, redis)]
    let missed = 0
    const changed: string[] = []
    const lost: unknown[] = []
    one.values.onMissedChanges(() => {
      missed++
    })
    one.values.onChange((_space, key) => {
      changed.push(key)
    })
    one.sessions.onChange(id => {
      lost.push(id)
    })
    await two.values.put('space', 'a', 1)
    await until(() => changed.includes('a'), 'the change')
    t.equal(missed, 0)
    await link.command('FLUSHALL')
    await until(() => missed === 1 && lost.includes(undefined), 'the loss')
    await two.values.put('space', 'b', 1)
    await until(() => changed.includes('b'), 'the change after it')
    await link.command('MULTI')
    await link.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    for (const key of ['c', 'd']) await link.command('XADD', 'p:feed', '*', 'node', 'x', 'space', 'space', 'key', key)
    await link.command('XTRIM', 'p:feed', 'MAXLEN', '1')
    await link.command('EXEC')
    await until(() => missed === 2, 'the loss of one change')
    await two.values.put('space', 'e', 1).catch(() => {})
    await until(async () => {
      await two.values.put('space', 'e', 1).catch(() => {})
      return changed.includes('e')
    }, 'changes come again')
  }
)

t.test('commands that fail, killed connections, forgotten scripts and full memory end nothing', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  const store = await open(t, redis)
  await store.sessions.save('s', RECORD, TOMORROW)
  for (let round = 0; round < 5; round++) {
    await link.command('SCRIPT', 'FLUSH')
    t.match(await store.sessions.append('s', 'aa', event(String(round)), false), { number: round + 1 })
    await link.command('CLIENT', 'KILL', 'TYPE', round % 2 === 0 ? 'normal' : 'pubsub', 'SKIPME', 'yes')
    await until(async () => await store.sessions.load('s').catch(() => undefined) !== undefined, 'it is back')
  }
  await link.command('CONFIG', 'SET', 'maxmemory', '1')
  await t.rejects(store.values.put('space', 'key', 1), {
    message: 'Storage failed: Redis has no memory left: raise its maxmemory'
  })
  t.equal(store.failure, 'Redis has no memory left: raise its maxmemory')
  t.match(await store.sessions.read('s', 'aa', 0), { events: { length: 5 } }, 'reads go on')
  t.equal(
    store.failure,
    'Redis has no memory left: raise its maxmemory',
    'that a read succeeds does not mean that a write does'
  )
  await link.command('CONFIG', 'SET', 'maxmemory', '0')
  await until(() => store.failure === undefined, 'it says that it works again')
  await store.values.put('space', 'key', 1)
})

t.test('the standalone stream of a session forgets the nodes that have long written nothing', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  const [one, two] = [await open(t, redis), await open(t, redis)]
  await one.sessions.save('s', RECORD, TOMORROW)
  await one.sessions.append('s', '0', event('a'), false)
  const key = 'p:{s:s}:e'
  const marks = async () =>
    ((await link.command('HKEYS', key)) as string[]).filter(field => field.startsWith('0.write.')).sort()
  const old = ['00000000000a', '00000000000b']
  for (const node of old) await link.command('HSET', key, `0.write.${node}`, '7 1000')
  await link.command('HSET', key, 'writers', `${old.join(' ')} ${idOf(one)}`)
  await two.sessions.append('s', '0', event('b'), false)
  t.strictSame(await marks(), [one, two].map(store => `0.write.${idOf(store)}`).sort())
  await two.sessions.append('s', '0', event('c'), false)
  await one.sessions.append('s', '0', event('d'), false)
  t.equal(String(await link.command('HGET', key, 'writers')).split(' ').length, 2)
  t.strictSame((await one.sessions.read('s', '0', undefined))?.events.map(({ text }) => text), ['a', 'b', 'c', 'd'])
})
