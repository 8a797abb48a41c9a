import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { initialize, launch } from '../../support/process.js'
import { gateway } from '../../support/gateway.js'
import { bestTime, timeOf } from '../../support/timing.js'
import { pause, takeTime, until } from '../../support/wait.js'
import { freePort, redisServer, RedisServer, withRedis } from '../../support/environment/redis-server.js'

const ALONE = /calls are counted by this gateway alone/

async function call (app: FastifyInstance): Promise<number> {
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/message',
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  })
  return statusCode
}

const health = (app: FastifyInstance) => app.mcp.health.now()
const isWell = (app: FastifyInstance) => health(app).status === 'healthy'

/** Makes calls one after the other until it is stopped. */
function calling (app: FastifyInstance) {
  const seen = { calls: 0, failed: 0 }
  const over = new AbortController()
  const done = (async () => {
    while (!over.signal.aborted) {
      if (await call(app) !== 200) seen.failed++
      seen.calls++
      await takeTime(2)
    }
  })()
  return { seen, stop: async () => { over.abort(); await done } }
}

/** A call waits for no answer of Redis: it would for three seconds. */
async function expectPrompt (t: Test, app: FastifyInstance): Promise<void> {
  const best = await bestTime(1_000, async () => await timeOf(async () => await call(app)))
  t.ok(best < 1_000, `a call takes ${Math.round(best)} ms`)
}

async function within5s (condition: () => boolean): Promise<number> {
  const begun = performance.now()
  await until(condition)
  return performance.now() - begun
}

t.test('gateways that share a Redis count together', withRedis, async t => {
  const { url } = await redisServer(t)
  const begun = performance.now()
  const apps = [
    await gateway(t, { rate: 1, burst: 6, redis: url }),
    await gateway(t, { rate: 1, burst: 6, redis: url })
  ]
  let answered = 0
  for (;;) {
    const statuses = await Promise.all(apps.map(call))
    answered += statuses.filter(status => status === 200).length
    if (statuses.includes(429)) break
  }
  const seconds = Math.floor((performance.now() - begun) / 1_000)
  t.ok(answered >= 6 && answered <= 6 + seconds, `${answered} in ${seconds} s`)
})

t.test('rates of tools are shared, too', withRedis, async t => {
  const { url } = await redisServer(t)
  const apps = [
    await gateway(t, { toolRates: { echo: 1 }, redis: url }),
    await gateway(t, { toolRates: { echo: 1 }, redis: url })
  ]
  const payload = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } }
  const replies = await Promise.all(
    apps.map(async app => await app.inject({ method: 'POST', url: '/message', payload }))
  )
  t.strictSame(replies.map(({ statusCode }) => statusCode).sort(), [200, 429])
})

t.test('while Redis is away calls go on, and when it returns they are counted together again', withRedis, async t => {
  const redis = await redisServer(t)
  const app = await gateway(t, { redis: redis.url, rate: 1_000, burst: 1_000 })
  t.ok(isWell(app))
  const { seen, stop } = calling(app)
  for (let round = 0; round < 3; round++) {
    await redis.kill()
    await until(() => health(app).parts?.['rate limits'] !== undefined)
    t.match(health(app), { status: 'degraded', ready: true, reason: ALONE, parts: { 'rate limits': ALONE } })
    const before = seen.calls
    await until(() => seen.calls > before + 5, 'calls without Redis')
    await expectPrompt(t, app)
    await redis.start()
    const took = await within5s(() => isWell(app))
    t.comment(`back after ${Math.round(took)} ms`)
  }
  await stop()
  await call(app)
  t.match(await redis.send('EXISTS patchbay:rate:calls:127.0.0.1'), ':1')
  t.equal(seen.failed, 0, `${seen.calls} calls`)
  t.ok(seen.calls > 20)
})

t.test('a Redis that hangs delays no call, and is used again when it goes on', withRedis, async t => {
  const redis = await redisServer(t)
  const app = await gateway(t, { redis: redis.url, rate: 1_000, burst: 1_000 })
  const { seen, stop } = calling(app)
  for (const isLong of [false, true]) {
    redis.signal('SIGSTOP')
    await until(() => health(app).parts?.['rate limits'] !== undefined)
    t.match(health(app).parts, { 'rate limits': ALONE })
    const before = seen.calls
    await until(() => seen.calls > before + 5, 'calls without an answer of Redis')
    await expectPrompt(t, app)
    // Once it is back before the connection is given up, once after.
    if (isLong) {
      await pause(3_500, 'the connection is given up after three seconds, and nothing outside of it shows that')
    }
    redis.signal('SIGCONT')
    const took = await within5s(() => isWell(app))
    t.comment(`back after ${Math.round(took)} ms`)
  }
  await stop()
  t.equal(seen.failed, 0, `${seen.calls} calls`)
})

t.test('a Redis that refuses to count is reported, and used again when it counts', withRedis, async t => {
  const redis = await redisServer(t)
  const app = await gateway(t, { redis: redis.url, rate: 1_000, burst: 1_000 })
  t.equal(await redis.send('CONFIG SET maxmemory 1'), '+OK')
  t.equal(await call(app), 200)
  t.match(health(app).reason, /^Redis refuses a command/)
  t.equal(await redis.send('CONFIG SET maxmemory 0'), '+OK')
  t.equal(await call(app), 200)
  t.ok(isWell(app))
})

t.test('a gateway starts and works without its Redis, and uses it when it is there', withRedis, async t => {
  const redis = new RedisServer(await freePort())
  t.teardown(async () => await redis.kill())
  const app = await gateway(t, { redis: redis.url, rate: 1, burst: 3 })
  t.match(health(app), { status: 'degraded', reason: ALONE })
  t.strictSame(await Promise.all([call(app), call(app), call(app), call(app)]), [200, 200, 200, 429], 'limits hold')
  await redis.start()
  await within5s(() => isWell(app))
})

t.test('a Redis that refuses the login is logged without its password', withRedis, async t => {
  const redis = await redisServer(t)
  let log = ''
  const stream = new Writable({ write (chunk, _encoding, done) { log += String(chunk); done() } })
  const app = await gateway(t, { redis: redis.url.replace('//', '//somebody:canary-7431@') }, { logger: { stream } })
  t.match(health(app).reason, ALONE)
  t.match(log, /WRONGPASS/)
  t.notMatch(log + JSON.stringify(health(app)), /canary-7431/)
})

t.test('the command keeps running without Redis, and ends on a signal', async t => {
  const running = launch(t, ['--stdio', '--port', '0'], {
    env: { PATCHBAY_REDIS: `redis://127.0.0.1:${await freePort()}` }
  })
  running.send(initialize)
  t.match(await running.next(), { id: 'hello', result: {} })
  running.send({ id: 1, method: 'tools/call', params: { name: 'health_check', arguments: {} } })
  t.match(await running.next(), { result: { structuredContent: { status: 'degraded', reason: ALONE } } })
  running.kill('SIGTERM')
  t.equal((await running.exit()).code, 0)
  t.equal(running.stderr.match(/counted by this gateway alone/g)?.length, 1, 'told once, however often it is tried')
})
