import { once } from 'node:events'
import { connect } from 'node:net'
import Fastify from 'fastify'
import t from 'tap'
import { patchbay } from '../../app.js'
import { redisServer, withRedis } from '../support/environment/redis-server.js'
import { gateway, listening } from '../support/gateway.js'
import { ADA, listed } from '../support/keys.js'
import { until } from '../support/wait.js'

t.test('probes need no credential and accept every Host, and say nothing else', async t => {
  const app = await gateway(t, { apiKeys: [listed('ada', ADA)], allowedHosts: ['mcp.example.com'], prefix: '/ai' })
  for (const [url, body] of [['/ai/livez', 'live'], ['/ai/readyz', 'ready'], ['/ai/readyz/', 'ready']] as const) {
    const reply = await app.inject({ url, headers: { host: '192.0.2.7:8080' } })
    t.match(
      { status: reply.statusCode, body: reply.body, cache: reply.headers['cache-control'] },
      { status: 200, body, cache: 'no-store' }
    )
    t.match(await app.inject({ method: 'HEAD', url }), { statusCode: 200, body: '' })
    t.equal(
      (await app.inject({ url, headers: { origin: 'https://evil.example' } })).statusCode,
      403,
      'a foreign page learns nothing'
    )
  }
})

t.test('an overloaded gateway lives but is not ready; a degraded one is both', async t => {
  const app = await gateway(t)
  const statuses = async () =>
    (await Promise.all(['/livez', '/readyz'].map(async url => await app.inject(url)))).map(
      ({ statusCode }) => statusCode
    )
  app.mcp.health.report('redis', 'it does not answer')
  t.strictSame(await statuses(), [200, 200])
  app.mcp.health.report('pressure', 'the event loop is late', 'overloaded')
  t.strictSame(await statuses(), [200, 503])
  t.match(await app.inject('/readyz'), { body: 'not ready', headers: { 'retry-after': '1' } })
})

t.test('probes use no rate and wait for no Redis', withRedis, async t => {
  const redis = await redisServer(t)
  const app = await gateway(t, { redis: redis.url, secret: 'a secret of the test', rate: 1, burst: 1 })
  const before = await counts(redis.port)
  for (let count = 0; count < 20; count++) {
    for (const url of ['/livez', '/readyz']) t.equal((await app.inject(url)).statusCode, 200)
  }
  t.equal(await counts(redis.port), before, 'nothing was counted in Redis')
  redis.signal('SIGSTOP')
  t.teardown(() => redis.signal('SIGCONT'))
  await until(() => app.mcp.health.now().status === 'degraded', 'the gateway notices')
  for (const url of ['/livez', '/readyz']) {
    t.equal((await app.inject(url)).statusCode, 200, 'Redis away is no reason to take a node out')
  }
})

t.test('a route of a plugin at these paths stays its own', async t => {
  const app = await gateway(t, {
    plugins: [
      async (fastify: Fastify.FastifyInstance) => {
        fastify.get('/livez', async () => 'mine')
      }
    ]
  })
  t.equal((await app.inject('/livez')).body, 'mine')
  t.equal((await app.inject('/readyz')).body, 'ready')
})

t.test('a host application has its own probes, and is warned of a drainDelay', async t => {
  const lines: string[] = []
  const app = Fastify({
    logger: {
      stream: {
        write: line => {
          lines.push((JSON.parse(line) as { msg: string }).msg)
        }
      }
    }
  })
  t.teardown(async () => await app.close())
  await app.register(patchbay, { drainDelay: 5 })
  for (const url of ['/livez', '/readyz']) t.equal((await app.inject(url)).statusCode, 404)
  t.match(lines.filter(line => line.includes('drainDelay')), [/has no effect .* wait before you call app\.close\(\)/])
})

t.test('a gateway that leaves serves on, and closes each connection with its last reply', async t => {
  const { app, url } = await listening(t)
  app.mcp.readiness.leave()
  t.match(app.mcp.health.now(), { status: 'draining', ready: false, reason: 'it is about to shut down' })
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}'
  const request = `POST /message HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let received = ''
  socket.on('data', chunk => { received += String(chunk) })
  socket.write(request.repeat(5))
  await once(socket, 'close')
  const replies = received.split('HTTP/1.1 ').slice(1)
  t.strictSame(
    replies.map(reply => [reply.slice(0, 3), /^connection: (\S+)/im.exec(reply)?.[1]]),
    [...Array.from({ length: 4 }, () => ['200', 'keep-alive']), ['200', 'close']]
  )
})

/** How many scripts Redis has run. */
async function counts (port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write('INFO commandstats\r\nQUIT\r\n')
  let text = ''
  socket.on('data', chunk => { text += String(chunk) })
  await once(socket, 'close')
  return (text.match(/^cmdstat_eval(sha)?:calls=\d+/gm) ?? []).join()
}
