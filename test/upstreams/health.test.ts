import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { ADA, apiKeys, bearer, BOB } from '../support/keys.js'
import { newestLegacy } from '../support/specification/revisions.js'
import { until } from '../support/wait.js'
import { openFixture } from './fixture/open.js'

interface Upstream { alias: string, state: string, stale: boolean }
interface Report { status: string, ready: boolean, parts?: Record<string, string>, upstreams: Upstream[] }

const ENDS = { command: process.execPath, args: ['-e', 'process.exit(3)'] }

/** A server that lists a tool that no client can read. */
const ODD = {
  command: process.execPath,
  args: [
    '-e',
    `require('node:readline').createInterface(process.stdin).on('line', line => {
    const { id, method } = JSON.parse(line)
    const results = {
      initialize: { protocolVersion: '${newestLegacy.version}', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } },
      'tools/list': { tools: [{ name: 'unreadable', inputSchema: 'none' }] }
    }
    const answer = results[method] === undefined ? { error: { code: -32601, message: 'unknown' } } : { result: results[method] }
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })`
  ]
}

async function healthOf (app: FastifyInstance): Promise<Report> {
  return (await app.inject({ url: '/health', headers: bearer(ADA) })).json<Report>()
}

/** A gateway in front of servers, and a function that waits until one of them is in a state. */
async function withServers (t: Test, mcpServers: NonNullable<Options['mcpServers']>, options: Partial<Options> = {}) {
  const app = await gateway(t, { apiKeys, tools: true, mcpServers, ...options })
  const reached = async (alias: string, fits: (upstream: Upstream) => boolean): Promise<void> =>
    await until(
      () => app.mcp.upstreams.status().some(upstream => upstream.alias === alias && fits(upstream)),
      `${alias} in that state`
    )
  return { app, reached }
}

t.test(
  '/health, server://status and health_check list each upstream; one that does not run makes the gateway degraded, and it is ready all the same',
  async t => {
    const { entry } = await openFixture(t, 'stdio', newestLegacy)
    const { app, reached } = await withServers(t, { good: entry, broken: ENDS, off: { ...ENDS, disabled: true } })
    await reached('good', ({ state, stale }) => state === 'ready' && !stale)
    await reached('broken', ({ state }) => state === 'backing off' || state === 'crash loop')
    const expected = [
      {
        alias: 'good',
        state: 'ready',
        stale: false,
        transport: 'stdio',
        revision: '2025-11-25',
        restarts: 0,
        warnings: Number
      },
      { alias: 'broken', transport: 'stdio', tools: 0, lastError: /./ },
      { alias: 'off', state: 'disabled', tools: 0, restarts: 0, warnings: 0 }
    ]
    const sentence = /^upstream broken does not run: ./
    const reply = await app.inject({ url: '/health', headers: bearer(ADA) })
    t.equal(reply.statusCode, 200)
    t.match(reply.json(), {
      status: 'degraded',
      ready: true,
      reason: sentence,
      parts: { 'upstream broken': sentence },
      upstreams: expected
    })
    const client = await createClient(app)
    t.match(JSON.parse((await client.read('server://status')).text), { status: 'degraded', upstreams: expected })
    t.match((await client.call('health_check')).output, { status: 'degraded', upstreams: expected })

    t.strictSame(
      (await app.inject('/health')).json(),
      { status: 'degraded', live: true, ready: true },
      'without a credential nothing is said of them'
    )
  }
)

t.test('/health names what was left out of the lists of a server to operators alone', async t => {
  const { app, reached } = await withServers(t, { odd: ODD })
  await reached('odd', ({ state, stale }) => state === 'ready' && !stale)
  const read = async (key: string) =>
    (await app.inject({ url: '/health', headers: bearer(key) })).json<{ upstreams: Array<{ leftOut?: string[] }> }>()
  t.match((await read(BOB)).upstreams, [{ alias: 'odd', warnings: 1, leftOut: [/^tool "unreadable" is left out: ./] }])
  t.equal((await read(ADA)).upstreams[0]?.leftOut, undefined)
})

t.test('/health tells operators alone how what a server offers differs from what was accepted', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const { app, reached } = await withServers(t, { held: { ...entry, pins: 'hold' }, free: entry })
  const isRead = ({ state, stale }: Upstream): boolean => state === 'ready' && !stale
  await reached('held', isRead)
  await reached('free', isRead)
  const read = async (key: string) => (await app.inject({ url: '/health', headers: bearer(key) })).json<Report>().upstreams
  await until(async () => (await read(BOB)).some(upstream => 'pins' in upstream))
  t.match(await read(BOB), [
    { alias: 'held', pins: { mode: 'hold', differences: [/^nothing of it was accepted yet/], marks: [] } },
    { alias: 'free', pins: undefined }
  ])
  t.strictSame((await read(ADA)).filter(upstream => 'pins' in upstream), [])
  t.notMatch((await app.inject('/health')).body, /accepted/)
})

t.test('an upstream that was removed is not listed any more, and what was wrong with it is forgotten', async t => {
  const { app, reached } = await withServers(t, { broken: ENDS })
  await reached('broken', ({ state }) => state === 'backing off' || state === 'crash loop')
  t.equal((await healthOf(app)).status, 'degraded')
  await app.mcp.upstreams.configure([])
  t.strictSame(Object.keys(await healthOf(app)), [
    'status',
    'live',
    'ready',
    'name',
    'version',
    'uptime',
    'sessions',
    'peers'
  ])
  t.equal((await healthOf(app)).status, 'healthy')
})

t.test('subscribers of server://status hear when an upstream changes its state', async t => {
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const { app } = await withServers(t, { late: { ...entry, start: 'lazy' } })
  const client = await createClient(app)
  await client.request('resources/subscribe', { uri: 'server://status' })
  await app.mcp.upstreams.configure([])
  t.match(await client.notified('notifications/resources/updated'), { uri: 'server://status' })
})
