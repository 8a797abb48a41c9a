import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { freePort, redisServer, RedisServer, withRedis } from '../../support/environment/redis-server.js'
import { redisLink } from '../../support/environment/redis-commands.js'
import { gateway, listening } from '../../support/gateway.js'
import { HttpSession, openSession, post, slow } from '../../support/http-session.js'
import type { Json } from '../../support/event-reader.js'
import { listed } from '../../support/keys.js'
import { takeTime, until } from '../../support/wait.js'

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
const INITIALIZE = {
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
}
const count = (id: number) => ({ id, method: 'tools/call', params: { name: 'increment_counter', arguments: {} } })
const health = ({ mcp }: FastifyInstance) => mcp.health.now()

/** What a session gets that the node does not know, or that has to be stored, by what was asked. */
async function refusals (
  url: string,
  session: HttpSession
): Promise<Record<string, [status: number, retryAfter: string | null]>> {
  const sent = {
    initialize: await post(url, INITIALIZE),
    POST: await session.post(echo(1)),
    GET: await fetch(`${url}/mcp`, { headers: { ...session.headers, accept: 'text/event-stream' } }),
    resume: await fetch(`${url}/mcp`, {
      headers: { ...session.headers, accept: 'text/event-stream', 'last-event-id': 'abc-1' }
    }),
    DELETE: await fetch(`${url}/mcp`, { method: 'DELETE', headers: session.headers })
  }
  return Object.fromEntries(
    Object.entries(sent).map(([name, { status, headers }]) => [name, [status, headers.get('retry-after')]])
  )
}

const REFUSED = Object.fromEntries(['initialize', 'POST', 'GET', 'resume', 'DELETE'].map(name => [name, [503, '1']]))

t.test('a node starts without its Redis, serves what needs none, and all when it is there', withRedis, async t => {
  const redis = new RedisServer(await freePort())
  t.teardown(async () => await redis.kill())
  const { app, url } = await listening(t, { redis: redis.url })
  t.match(health(app), {
    status: 'degraded',
    ready: true,
    parts: { store: 'Redis cannot be reached' },
    store: { kind: 'redis', writable: false }
  })
  t.strictSame(await refusals(url, new HttpSession(url, 'unknown')), REFUSED)
  t.match(await post(url, echo(1, META), MODERN), {
    status: 200,
    body: { id: 1, result: { structuredContent: { text: 'x' } } }
  })
  const sealed = app.mcp.dispatcher.sealer.seal('a purpose', 'before')
  await redis.start()
  await until(() => health(app).status === 'healthy', 'Redis is there')
  const session = await openSession(url)
  t.match(await session.post(echo(1)), { status: 200 })
  t.equal((await new HttpSession(url, 'unknown').post(echo(1))).status, 404, 'now it is known that there is none')
  const other = await listening(t, { redis: redis.url })
  t.match(await new HttpSession(other.url, session.id).post(echo(1)), { status: 200 })
  await until(
    () => other.app.mcp.dispatcher.sealer.open('a purpose', app.mcp.dispatcher.sealer.seal('a purpose', 1)) === 1,
    'both have one secret'
  )
  t.equal(app.mcp.dispatcher.sealer.open('a purpose', sealed), 'before', 'what was sealed before is still good')
})

for (const [how, stop, goOn] of [
  [
    'hangs',
    async (redis: RedisServer) => redis.signal('SIGSTOP'),
    async (redis: RedisServer) => redis.signal('SIGCONT')
  ],
  ['is killed', async (redis: RedisServer) => await redis.kill(), async (redis: RedisServer) => await redis.start()]
] as const) {
  t.test(`while Redis ${how}, a session that the node knows goes on`, withRedis, async t => {
    const redis = await redisServer(t)
    const { app, url } = await listening(t, { redis: redis.url })
    const [session, unknown] = [
      await openSession(url),
      await openSession((await listening(t, { redis: redis.url })).url)
    ]
    const running = await session.stream(slow(1, 40, 50))
    t.match(await running.event(), { id: /-0$/ })
    t.match(await running.event(), { id: /-1$/ })
    await stop(redis)
    t.match(await session.post(echo(2)), { status: 200, body: { id: 2, result: {} } })
    const counted = await session.post(count(3))
    t.match(counted, { status: 200, body: { result: { isError: true } } })
    t.match(JSON.stringify(counted.body), /Storage failed: Redis (does not answer|cannot be reached)/)
    t.match(health(app), { status: 'degraded', ready: true, reason: /Redis (does not answer|cannot be reached)/ })
    t.strictSame(await refusals(url, new HttpSession(url, unknown.id)), REFUSED)
    t.match(await post(url, echo(1, META), MODERN), { status: 200 })
    const events = (await running.rest()).flatMap(({ data, id }) =>
      data ? [{ id, message: JSON.parse(data) as Json }] : []
    )
    t.match(events.at(-1), { id: undefined, message: { id: 1, result: { content: [{ text: '40 steps' }] } } })
    t.strictSame(
      events.slice(0, -1).map(({ message }) => (message['params'] as { progress: number }).progress),
      Array.from({ length: 39 }, (_, index) => index + 2)
    )
    await goOn(redis)
    await until(() => health(app).status === 'healthy', 'Redis is back')
    t.match(await post(url, INITIALIZE), { status: 200 })
    t.match(await (await openSession(url)).post(count(4)), { status: 200, body: { result: { isError: false } } })
  })
}

t.test(
  'while Redis is away, no ticket is issued, and one that cannot be looked up is not refused for good',
  withRedis,
  async t => {
    const redis = await redisServer(t)
    const app = await gateway(t, { redis: redis.url, apiKeys: [listed('ada', 'pb_ada', ['mcp'])] })
    const issue = async () =>
      await app.inject({ method: 'POST', url: '/ticket', headers: { authorization: 'Bearer pb_ada' } })
    const { ticket } = (await issue()).json<{ ticket: string }>()
    const show = async () =>
      await app.inject({
        url: `/mcp?ticket=${ticket}`,
        headers: { accept: 'text/event-stream', 'mcp-session-id': 'unknown' }
      })
    await redis.kill()
    for (const send of [issue, show]) {
      const { statusCode, headers } = await send()
      t.equal(statusCode, 503)
      t.match(headers['retry-after'], /^\d+$/)
    }
    await redis.start()
    await until(async () => (await issue()).statusCode === 200, 'Redis is back')
    t.equal((await show()).statusCode, 401, 'Redis was emptied')
  }
)

t.test('connections that are cut again and again end no session, and no event is lost', withRedis, async t => {
  const redis = await redisServer(t)
  const link = await redisLink(t, redis.url)
  const { url } = await listening(t, { redis: redis.url })
  const session = await openSession(url)
  const running = await session.stream(slow(1, 60, 20))
  const over = new AbortController()
  const cuts = (async () => {
    while (!over.signal.aborted) {
      await link.command('SCRIPT', 'FLUSH')
      await link.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await link.command('CLIENT', 'KILL', 'TYPE', 'pubsub', 'SKIPME', 'yes')
      t.match(await session.post(echo(2)), { status: 200 })
      await takeTime(100)
    }
  })()
  const progress = (await running.rest()).flatMap(({ data }) =>
    data ? [JSON.parse(data) as { params?: { progress: number } }] : []
  )
  over.abort()
  await cuts
  t.match(progress.at(-1), { id: 1, result: { content: [{ text: '60 steps' }] } })
  t.strictSame(
    [...new Set(progress.flatMap(({ params }) => (params === undefined ? [] : [params.progress])))],
    Array.from({ length: 60 }, (_, index) => index + 1)
  )
})
