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
import { addUpstream } from '../../upstreams/relay/fake-upstream.js'
import { RelayClient } from '../../upstreams/relay/relay-client.js'

const PROGRAM = fileURLToPath(new URL('../../upstreams/programs/server.js', import.meta.url))

t.test('a program that ends is down, and up again when it was started again', async t => {
  const { app } = await inFrontOf(
    t,
    { git: { command: process.execPath, args: [PROGRAM] } },
    { limits: { upstreamRestartDelay: 300, upstreamStopTimeout: 200 } }
  )
  const up = async () => (await scrape(app)).get('patchbay_upstream_up{upstream="git"}')
  t.equal(await up(), 1)
  const client = await createClient(app)
  await client.call('git__exit').catch(() => {})
  await until(async () => await up() === 0)
  await until(async () => await up() === 1)
  const series = await scrape(app)
  t.equal(series.get('patchbay_upstream_restarts_total{upstream="git"}'), 1)
  t.ok((series.get('patchbay_upstream_call_duration_seconds_count{upstream="git"}') ?? 0) > 0)
  t.ok(
    sum(series, 'mcp_client_operation_duration_seconds_count', {
      mcp_method_name: 'tools/call',
      error_type: '-32603'
    }) > 0
  )
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
  const app = await gateway(t, {
    mcpServers: {
      gone: { url: `http://127.0.0.1:${port}/mcp` },
      off: { url: 'http://127.0.0.1:1/mcp', disabled: true }
    }
  })
  await until(() => app.mcp.upstreams.status().some(({ lastError }) => lastError !== undefined))
  const series = await scrape(app)
  t.equal(series.get('patchbay_upstream_up{upstream="gone"}'), 0)
  t.equal(series.has('patchbay_upstream_up{upstream="off"}'), false)
})

t.test('a server that takes requests and answers none is down, and up again with the first answer', async t => {
  const { app } = await inFrontOf(t, { git: { command: process.execPath, args: [PROGRAM] } }, { callTimeout: 300 })
  const up = async () => (await scrape(app)).get('patchbay_upstream_up{upstream="git"}')
  const client = await createClient(app)
  await t.rejects(client.call('git__hang'), { code: -32603 })
  await until(async () => await up() === 0)
  await client.call('git__echo', { key: 'a' })
  t.equal(await up(), 1)
  t.equal(
    sum(await scrape(app), 'mcp_client_operation_duration_seconds_count', {
      mcp_method_name: 'tools/call',
      error_type: '-32603'
    }),
    1
  )
})

t.test('a request that was taken back is no error, and says nothing about the server', async t => {
  const { app } = await inFrontOf(t, { git: { command: process.execPath, args: [PROGRAM] } })
  const client = await createClient(app)
  const controller = new AbortController()
  const cancelled = client.request('tools/call', { name: 'git__hang', arguments: {} }, controller.signal)
  await until(() => app.mcp.dispatcher.callsInFlight().length === 1)
  controller.abort()
  await t.rejects(cancelled)
  await until(
    async () =>
      sum(await scrape(app), 'mcp_client_operation_duration_seconds_count', { mcp_method_name: 'tools/call' }) === 1
  )
  const series = await scrape(app)
  t.equal(
    series.get('mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call"}'),
    1,
    'without a type of error'
  )
  t.equal(series.get('patchbay_upstream_up{upstream="git"}'), 1)
})

t.test(
  'a server without sessions that is stopped while it is not used is up, and how long it was listened to is not how long it takes',
  async t => {
    const { url } = await listening(t)
    const { app } = await inFrontOf(t, { far: { url: `${url}/mcp`, idle: 200 } })
    const durations = async () =>
      (await scrape(app)).get('patchbay_upstream_call_duration_seconds_count{upstream="far"}')
    const listens = async () =>
      sum(await scrape(app), 'mcp_client_operation_duration_seconds_count', { mcp_method_name: 'subscriptions/listen' })
    await until(() => app.mcp.upstreams.status().some(({ state }) => state === 'stopped'))
    await until(async () => (await listens()) > 0)
    const series = await scrape(app)
    t.equal(series.get('patchbay_upstream_up{upstream="far"}'), 1)
    const others = [...series]
      .filter(
        ([key]) =>
          key.startsWith('mcp_client_operation_duration_seconds_count') && !key.includes('subscriptions/listen')
      )
      .reduce((total, [, count]) => total + count, 0)
    t.equal(await durations(), others)
  }
)

t.test('questions of a server are counted when they leave with the result of a call', async t => {
  for (const version of ['2025-11-25', '2026-07-28']) {
    const app = await gateway(t)
    const { connection } = addUpstream(app, version)
    const { answer } = new RelayClient(app, '2026-07-28').call()
    const { call, resolve } = await connection.arrived.next()
    const question = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } }
    if (version === '2026-07-28') {
      resolve({
        resultType: 'input_required',
        inputRequests: { key: { method: 'elicitation/create', params: question } }
      })
    } else call.ask('elicitation/create', question, new AbortController().signal).catch(() => {})
    t.match(await answer, { result: { resultType: 'input_required' } })
    t.equal(
      (await scrape(app)).get('patchbay_questions_total{method="elicitation/create",outcome="deferred"}'),
      1,
      version
    )
  }
})

t.test('a server that a reload put in the place of one that did not answer is up', async t => {
  const gone = await listening(t)
  const { app } = await inFrontOf(t, { web: { url: `${gone.url}/mcp` } })
  const client = await createClient(app)
  const up = async () => (await scrape(app)).get('patchbay_upstream_up{upstream="web"}')
  await gone.app.close()
  await until(async () => { await client.call('web__echo', { text: 'a' }).catch(() => {}); return await up() === 0 })
  const entry = app.mcp.upstreams.get('web')?.entry
  if (entry === undefined) throw new Error('there is no such server')
  await app.mcp.upstreams.configure([{ ...entry, start: 'lazy' }])
  await until(() => app.mcp.upstreams.status()[0]?.state === 'stopped', 'the server that waits for a call')
  t.equal(await up(), 1)
})
