import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createClient } from '../../../app.js'
import { gateway, listening } from '../../support/gateway.js'
import { scrape, sum } from '../../support/metrics.js'
import { inFrontOf } from '../../support/upstreams.js'
import { until } from '../../support/wait.js'

const PROGRAM = fileURLToPath(new URL('../../upstreams/programs/server.js', import.meta.url))

t.test('a program that ends is down, and up again when it was started again', async t => {
  const { app } = await inFrontOf(t, { git: { command: process.execPath, args: [PROGRAM] } }, { upstreamRestartDelay: 300, upstreamStopTimeout: 200 })
  const up = async () => (await scrape(app)).get('patchbay_upstream_up{upstream="git"}')
  t.equal(await up(), 1)
  const client = await createClient(app)
  await client.call('git__exit').catch(() => {})
  await until(async () => await up() === 0)
  await until(async () => await up() === 1)
  const series = await scrape(app)
  t.equal(series.get('patchbay_upstream_restarts_total{upstream="git"}'), 1)
  t.ok((series.get('patchbay_upstream_call_duration_seconds_count{upstream="git"}') ?? 0) > 0)
  t.ok(sum(series, 'mcp_client_operation_duration_seconds_count', { mcp_method_name: 'tools/call', error_type: '-32603' }) > 0)
})

t.test('a server behind a URL that goes away is down', async t => {
  const inner = await listening(t)
  const { app } = await inFrontOf(t, { web: { url: `${inner.url}/mcp` } })
  const client = await createClient(app)
  await client.call('web__echo', { text: 'a' })
  const up = async () => (await scrape(app)).get('patchbay_upstream_up{upstream="web"}')
  t.equal(await up(), 1)
  await inner.app.close()
  await until(async () => { await client.call('web__echo', { text: 'a' }).catch(() => {}); return await up() === 0 })
})

t.test('a server that was never reached is down, and one that is switched off is not listed', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  const app = await gateway(t, { mcpServers: { gone: { url: `http://127.0.0.1:${port}/mcp` }, off: { url: 'http://127.0.0.1:1/mcp', disabled: true } } })
  await until(() => app.mcp.upstreams.status().some(({ lastError }) => lastError !== undefined))
  const series = await scrape(app)
  t.equal(series.get('patchbay_upstream_up{upstream="gone"}'), 0)
  t.equal(series.has('patchbay_upstream_up{upstream="off"}'), false)
})
