import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import t from 'tap'
import { createClient, patchbay } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { Speaker } from '../../support/speaker.js'
import { stopTime } from '../../support/clocks.js'

for (const [limit, words] of [
  [{ maxRss: 1 }, /too much memory, limit maxRss/],
  [{ maxHeap: 1 }, /little heap left, limit maxHeap/]
] as const) {
  t.test(`${Object.keys(limit)[0]}: clients get an overload error, and pings are answered`, async t => {
    const app = await gateway(t, { limits: { ...limit, maxEventLoopDelay: 100 } })
    const [known, stateless] = [new Speaker(app), new Speaker(app, { version: '2026-07-28' })]
    await until(() => app.mcp.pressure.level === 'heavy')
    for (const speaker of [known, stateless]) {
      t.match(await speaker.request('tools/list'), { error: { code: -32603, message: words, data: { retryAfter: 1 } } })
    }
    t.match(await known.request('ping'), { result: {} })
    await t.rejects(createClient(app), { code: -32603 })
    for (const path of ['/mcp/sse', '/sse']) {
      t.match(await app.inject({ url: path }), { statusCode: 503, headers: { 'retry-after': '1' } }, path)
    }
    t.match((await app.inject('/health')).json(), {
      status: 'overloaded',
      live: true,
      ready: false,
      parts: { pressure: words }
    })
  })
}

t.test('without a limit the memory of the process refuses nothing', async t => {
  const { pass } = stopTime(t)
  const app = await gateway(t, { limits: { maxEventLoopDelay: 60_000 } })
  await pass(10_000, 50)
  t.strictSame([app.mcp.pressure.level, app.mcp.pressure.why], ['none', ''])
})

t.test('a host that uses @fastify/under-pressure can have a gateway beside it', async t => {
  const app = Fastify()
  t.teardown(async () => await app.close())
  await app.register(underPressure, { sampleInterval: 50 })
  await app.register(patchbay, { limits: { maxRss: 1, maxEventLoopDelay: 100 } })
  await app.ready()
  await until(() => app.mcp.pressure.level === 'heavy')
  t.match(await app.inject('/health'), { statusCode: 503 })
})
