import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t from 'tap'
import { tool } from '../../../app.js'
import { gateway } from '../../support/gateway.js'
import { scrape, sum } from '../../support/metrics.js'
import { client } from '../../support/recorder.js'
import { bestTime, timeOf } from '../../support/timing.js'

t.test('names that clients make up add no series', async t => {
  const app = await gateway(t)
  const { request } = client(app.mcp.dispatcher, { transport: 'websocket' })
  const invent = async (n: number) => {
    await request('tools/call', { name: `invented ${n}` })
    await request(`invented/${n}`)
    await request('resources/read', { uri: `invented://${n}` })
    await request('prompts/get', { name: `invented ${n}` })
    await client(app.mcp.dispatcher, {
      transport: 'websocket',
      identity: { principal: `principal ${n}`, scopes: 'all' }
    }).request('initialize', {
      protocolVersion: `invented ${n}`,
      capabilities: {},
      clientInfo: { name: `client ${n}`, version: '1' }
    })
  }
  const keysOf = async () => [...(await scrape(app)).keys()].filter(key => /^(patchbay|mcp)_/.test(key))
  await invent(0)
  const before = await keysOf()
  for (let n = 1; n <= 500; n++) await invent(n)
  t.strictSame(await keysOf(), before)
})

/** A plugin with so many tools. */
const manyTools = (count: number) => async ({ mcp: { tools } }: FastifyInstance) => {
  for (let n = 0; n < count; n++) tools.add(tool({ name: `tool_${n}`, description: 'd', run: () => 'done' }))
}

async function callAll (app: FastifyInstance, count: number): Promise<void> {
  const { request } = client(app.mcp.dispatcher, { transport: 'websocket' })
  for (let n = 0; n < count; n++) await request('tools/call', { name: `tool_${n}` })
}

t.test('tools beyond 2,000 are counted together, with one warning', async t => {
  const warnings: string[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      warnings.push((JSON.parse(String(chunk)) as { msg: string }).msg)
      done()
    }
  })
  const app = await gateway(
    t,
    { plugins: [manyTools(2_003)], audit: false, tools: false },
    { loggerInstance: pino({ level: 'warn' }, out) }
  )
  await callAll(app, 2_003)
  const series = await scrape(app)
  t.equal(sum(series, 'patchbay_calls_total'), 2_003)
  t.equal(sum(series, 'patchbay_calls_total', { tool: '_OTHER' }), 3)
  t.equal([...series.keys()].filter(key => key.startsWith('patchbay_calls_total')).length, 2_001)
  t.equal(warnings.filter(line => line.includes('more than 2000 tools')).length, 1)
})

t.test('6,000 series are written within 50 ms', async t => {
  const app = await gateway(t, { plugins: [manyTools(300)], audit: false, tools: false })
  await callAll(app, 300)
  t.ok((await scrape(app)).size > 6_000)
  const ms = await bestTime(50, async () => await timeOf(async () => await app.mcp.metrics.read(undefined)))
  t.comment(`${ms} ms`)
  t.ok(ms < 50, `${ms} ms`)
})
