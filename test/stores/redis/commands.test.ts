import t from 'tap'
import { RECORD, TOMORROW } from '../../support/stream-log.js'
import { allKeys, commandCounts, readyStore, redisLink } from '../../support/environment/redis-commands.js'
import { redisServer, withRedis } from '../../support/environment/redis-server.js'
import { listening } from '../../support/gateway.js'
import { openSession, post, slow } from '../../support/http-session.js'
import { bestTime } from '../../support/timing.js'
import { until } from '../../support/wait.js'

const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}
const echo = (id: number, _meta?: object) => ({
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'x' }, ...(_meta && { _meta }) }
})

t.test(
  'a call costs no command of the store, a handshake one, an event of a streamed reply one',
  withRedis,
  async t => {
    const { url: redis } = await redisServer(t)
    const link = await redisLink(t, redis)
    const { url } = await listening(t, { redis })
    // The fewest of several attempts: a write that Redis does not answer for a moment, because the machine is busy, is
    // sent again.
    const during = async (work: () => Promise<unknown>, expected: number): Promise<number> =>
      await bestTime(expected + 1, async () => {
        const before = await commandCounts(link, 'evalsha', 'hgetall')
        await work()
        return (await commandCounts(link, 'evalsha', 'hgetall')).calls - before.calls
      })
    let session = await openSession(url)
    let calls = 100
    t.equal(
      await during(async () => {
        session = await openSession(url)
      }, 1),
      1,
      'initialize'
    )
    t.equal(
      await during(async () => {
        for (let id = 0; id < 10; id++) t.match(await session.post(echo(id)), { status: 200, body: { id, result: {} } })
      }, 0),
      0,
      'a JSON reply in a session that the node knows'
    )
    t.equal(
      await during(async () => {
        for (let id = 0; id < 10; id++) {
          t.match(await post(url, echo(id, META), MODERN), { status: 200, body: { id, result: {} } })
        }
      }, 0),
      0,
      'a call without a session'
    )
    t.equal(
      await during(async () => {
        const events = await (await session.stream(slow(++calls, 20, 5))).rest()
        t.equal(events.filter(({ data }) => data).length, 21)
      }, 21),
      21,
      'one for each event'
    )
    t.equal((await commandCounts(link, 'evalsha')).failed, 0, 'each script was known')
  }
)

t.test('sessions that have come and gone leave nothing', withRedis, async t => {
  const { url } = await redisServer(t)
  const link = await redisLink(t, url)
  const store = await readyStore(url, 'p:')
  t.teardown(async () => await store.close())
  await Promise.all(Array.from({ length: 1_000 }, async (_, index) => {
    const id = `s${index}`
    await store.sessions.save(id, RECORD, TOMORROW)
    await store.sessions.append(id, 'aa', { text: 'x', method: 'm' }, false, { begins: 'interrupted' })
    await store.sessions.append(id, '0', { text: 'x', method: 'm' }, false)
    if (index % 2 === 0) await store.sessions.remove(id)
    else await store.sessions.touch([id], Date.now() + 50)
  }))
  await store.values.put('space', 'key', 1)
  await store.values.delete('space', 'key')
  await until(async () => (await allKeys(link)).length <= 2, 'no key is left but feed and lease')
  t.strictSame(await allKeys(link), ['p:feed', `p:node:${store.nodes.self ?? ''}`])
  t.strictSame(((await link.command('PUBSUB', 'CHANNELS')) as string[]).sort(), [
    'p:all',
    `p:n:${store.nodes.self ?? ''}`
  ])
})

t.test('a space with thousands of expired values is read and written as if they were gone', withRedis, async t => {
  const { url } = await redisServer(t)
  const link = await redisLink(t, url)
  const { values, close } = await readyStore(url, 'p:')
  t.teardown(close)
  const keys = Array.from({ length: 3_000 }, (_, index) => String(index).padStart(4, '0'))
  for (let next = 0; next < keys.length; next += 500) {
    await Promise.all(keys.slice(next, next + 500).map(async key => await values.put('space', key, key)))
  }
  t.equal((await values.keys('space')).length, 3_000, 'read in several steps')
  t.strictSame(await values.keys('space', { after: '1499', limit: 1_200 }), keys.slice(1_500, 2_700))
  t.strictSame(
    (await values.list('space', { descending: true, limit: 2_500 })).map(({ value }) => value),
    keys.toReversed().slice(0, 2_500)
  )
  // All but the last expire at once.
  await link.command(
    'EVAL',
    "for index = 0, 2998 do redis.call('ZADD', KEYS[1], 1, string.format('%04d', index)) end",
    '1',
    'p:{v:space}:x'
  )
  t.equal(await values.get('space', '2500'), undefined)
  t.strictSame(await values.keys('space'), ['2999'])
  t.strictSame(await values.list('space', { limit: 5 }), [{ key: '2999', value: '2999' }])
  await values.put('space', 'new', 1, { max: 2 })
  t.equal(await link.command('HLEN', 'p:{v:space}:d'), 2_001, 'a write removes a thousand of them')
  await t.rejects(values.put('space', 'another', 1, { max: 2 }), /There are 2 already/)
  t.equal(await values.delete('space', '2900'), false)
  t.equal(await values.increment('space', '2901', 1), 1)
  t.strictSame(await values.keys('space'), ['2901', '2999', 'new'])
})
