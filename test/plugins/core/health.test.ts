import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { ADA, bearer, listed } from '../../support/keys.js'
import { gateway } from '../../support/gateway.js'
import { Speaker, dataOf } from '../../support/speaker.js'

async function health (app: FastifyInstance) {
  const { statusCode, headers, body } = await app.inject('/health')
  const shown = JSON.parse(body) as { parts?: object }
  return { code: statusCode, retryAfter: headers['retry-after'], ...shown }
}

t.test('a healthy gateway is live and ready, and names no parts', async t => {
  const app = await gateway(t)
  const shown = await health(app)
  t.match(shown, { code: 200, status: 'healthy', live: true, ready: true, sessions: 0 })
  for (const absent of ['reason', 'parts']) t.notOk(absent in shown)
})

t.test('a failing part is named, with the reason, until it is healthy again', async t => {
  const app = await gateway(t)
  app.mcp.health.report('redis', 'it does not answer')
  app.mcp.health.report('jwks', 'the keys cannot be fetched')
  t.match(await health(app), {
    code: 200,
    status: 'degraded',
    live: true,
    ready: true,
    reason: 'it does not answer; the keys cannot be fetched',
    parts: { redis: 'it does not answer', jwks: /fetched/ }
  })
  app.mcp.health.report('redis', undefined)
  t.strictSame((await health(app)).parts, { jwks: 'the keys cannot be fetched' })
  app.mcp.health.report('jwks', undefined)
  t.match(await health(app), { code: 200, status: 'healthy', ready: true })
})

t.test('the worst check decides; one that refuses calls is live but not ready, with Retry-After', async t => {
  const app = await gateway(t)
  app.mcp.health.report('pressure', 'the event loop is late', 'overloaded')
  app.mcp.health.report('redis', 'it does not answer')
  t.match(await health(app), {
    code: 503,
    retryAfter: '1',
    status: 'overloaded',
    live: true,
    ready: false,
    parts: { pressure: /late/, redis: /answer/ }
  })
  app.mcp.health.report('pressure', undefined)
  t.match(await health(app), { code: 200, status: 'degraded', ready: true })
})

t.test('under a Host that is not allowed it shows its three bare fields, whatever the caller may do', async t => {
  const app = await gateway(t, { apiKeys: [listed('ada', ADA, ['admin'])], allowedHosts: ['mcp.example.com'] })
  app.mcp.health.report('redis', 'it does not answer')
  const bare = { status: 'degraded', live: true, ready: true }
  for (const host of ['192.0.2.7:8080', 'patchbay:8080', 'evil.example', '[2001:db8::1]']) {
    for (const headers of [{ host }, { host, ...bearer(ADA) }]) {
      t.strictSame((await app.inject({ url: '/health', headers })).json(), bare, host)
    }
  }
  t.match((await app.inject({ url: '/health', headers: { host: 'mcp.example.com', ...bearer(ADA) } })).json(), {
    ...bare,
    reason: /answer/,
    name: String
  })
  t.strictSame((await app.inject({ url: '/health', headers: { host: 'mcp.example.com' } })).json(), bare)
  app.mcp.health.report('pressure', 'the event loop is late', 'overloaded')
  t.equal((await app.inject({ url: '/health', headers: { host: '192.0.2.7' } })).statusCode, 503)
})

t.test('without keys, too, a Host that is not allowed learns no more, and a foreign page nothing', async t => {
  const app = await gateway(t)
  t.strictSame((await app.inject({ url: '/health', headers: { host: '192.0.2.7:8080' } })).json(), {
    status: 'healthy',
    live: true,
    ready: true
  })
  t.match((await app.inject('/health')).json(), { version: String })
  for (const host of ['localhost', '192.0.2.7']) {
    t.equal((await app.inject({ url: '/health', headers: { host, origin: 'https://evil.example' } })).statusCode, 403)
  }
  for (const request of [{ method: 'POST' as const, url: '/health' }, { url: '/healthy' }, { url: '/sse' }]) {
    t.equal((await app.inject({ ...request, headers: { host: '192.0.2.7' } })).statusCode, 403, JSON.stringify(request))
  }
})

t.test('HEAD is answered like GET, without the body', async t => {
  const app = await gateway(t)
  const { statusCode, body, headers } = await app.inject({
    method: 'HEAD',
    url: '/health',
    headers: { host: '192.0.2.7' }
  })
  t.match({ statusCode, body, headers }, { statusCode: 200, body: '', headers: { 'cache-control': 'no-store' } })
  app.mcp.health.report('pressure', 'the event loop is late', 'overloaded')
  t.match(await app.inject({ method: 'HEAD', url: '/health' }), { statusCode: 503, body: '' })
})

t.test('the tool and the resource say the same', async t => {
  const app = await gateway(t)
  const speaker = new Speaker(app)
  app.mcp.health.report('redis', 'it does not answer')
  t.match(dataOf(await speaker.tool('health_check')), {
    status: 'degraded',
    reason: 'it does not answer',
    parts: { redis: 'it does not answer' }
  })
  const { result } = await speaker.request('resources/read', { uri: 'server://status' })
  t.match(JSON.parse((result.contents as [{ text: string }])[0].text), {
    status: 'degraded',
    reason: 'it does not answer'
  })
})

t.test('a listener is called once for each change', async t => {
  const app = await gateway(t)
  let calls = 0
  app.mcp.health.onChange(() => { calls++ })
  app.mcp.health.report('redis', undefined)
  t.equal(calls, 0, 'it was well before')
  for (let times = 0; times < 3; times++) app.mcp.health.report('redis', 'it does not answer')
  t.equal(calls, 1)
  app.mcp.health.report('redis', 'it does not answer', 'overloaded')
  t.equal(calls, 2)
  for (let times = 0; times < 3; times++) app.mcp.health.report('redis', undefined)
  t.equal(calls, 3)
})
