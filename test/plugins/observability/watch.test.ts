import { once } from 'node:events'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { createClient, tool } from '../../../app.js'
import { endSessionOf, post } from './watch-requests.js'
import { gateway } from '../../support/gateway.js'
import { apiKeys, bearer, ADA, BOB } from '../../support/keys.js'
import { callTool } from '../../support/modern.js'
import { newestLegacy } from '../../support/specification/revisions.js'
import { until } from '../../support/wait.js'
import { Watcher } from '../../support/watcher.js'
import { openFixture } from '../../upstreams/fixture/open.js'

/** How many listen to calls. */
function listeners ({ mcp: { dispatcher: { observers } } }: FastifyInstance): number[] {
  return [observers.end.size, observers.progress.size, observers.refusal.size]
}

t.test('a watcher is told what the gateway is, and what it does', async t => {
  const app = await gateway(t)
  const watcher = await Watcher.open(t, app)
  t.match(watcher.batches[0], {
    at: Number,
    gateway: { name: 'mcp-patchbay', version: String, startedAt: Number },
    health: { status: 'healthy', ready: true },
    upstreams: [],
    refusals: [],
    clients: {
      total: 1,
      sessions: 0,
      rows: [{ client: 'in-process/1.0.0', transport: 'memory', session: false, since: Number, inFlight: 1, own: true }]
    },
    inFlight: { total: 1, rows: [{ method: 'patchbay/watch', own: true, startedAt: Number, key: String }] }
  })
  const other = await createClient(app)
  await other.call('echo', { text: 'x' })
  await other.call('refuse').catch(() => {})
  await watcher.client.call('echo', { text: 'x' })
  await until(() => watcher.ended.length === 5)
  t.match(watcher.ended, [
    { method: 'initialize', own: true },
    { method: 'initialize', outcome: 'ok', transport: 'memory', at: Number, ms: Number },
    { method: 'tools/call', tool: 'echo', outcome: 'ok', client: 'in-process/1.0.0', revision: '2025-11-25' },
    { method: 'tools/call', tool: 'refuse', outcome: 'failed' },
    { method: 'tools/call', tool: 'echo', own: true }
  ])
  t.strictSame(watcher.ended.map(({ own }) => own), [true, undefined, undefined, undefined, true])
  await until(() => watcher.last('totals')?.['calls'] === 5)
  t.match(watcher.last('totals'), { calls: 5, errors: 1, p50: Number, p95: Number, p99: Number })
  t.match(watcher.last('tools'), [{ name: 'echo', calls: 2, errors: 0 }, { name: 'refuse', calls: 1, errors: 1 }])
  await until(() => watcher.seconds.reduce((sum, { calls }) => sum + Number(calls), 0) === 5)
  t.equal(watcher.last('clients')?.total, 2)
})

t.test('calls in flight have their progress and their question, also those that began before', async t => {
  const app = await gateway(t)
  const gate = new EventTarget()
  app.mcp.tools.add(tool({
    name: 'wait',
    description: 'd',
    input: Type.Object({ progress: Type.Boolean() }),
    run: async ({ progress }, call) => {
      if (progress) call.progress(3, 7)
      await once(gate, 'open')
      return 'done'
    }
  }))
  const asked = new Promise<object>(resolve => gate.addEventListener('open', () => resolve({ action: 'cancel' })))
  const other = await createClient(app, {
    answers: { 'elicitation/create': async () => (await asked) as Record<string, unknown> },
    capabilities: { elicitation: {} }
  })
  const early = [
    other.call('wait', { progress: false }),
    other.call('ask_name'),
    callTool(app, 'wait', { progress: false })
  ]
  await until(() => app.mcp.dispatcher.callsInFlight().length === 3)
  const watcher = await Watcher.open(t, app)
  const late = other.call('wait', { progress: true })
  await until(() => watcher.last('inFlight')?.total === 5)
  t.match(watcher.last('inFlight')?.rows, [
    { tool: 'wait', transport: 'memory' },
    { tool: 'ask_name', question: 'elicitation/create' },
    { tool: 'wait', transport: 'http', revision: '2026-07-28', client: 'test/1.0.0' },
    { method: 'patchbay/watch', own: true },
    { tool: 'wait', progress: 3, total: 7 }
  ], 'the oldest first')
  gate.dispatchEvent(new Event('open'))
  await Promise.all([...early, late])
  await until(() => watcher.last('inFlight')?.total === 1)
  t.match(watcher.ended.map(({ tool }) => tool).sort(), ['ask_name', 'wait', 'wait', 'wait'])
})

t.test('sessions are clients, and requests without one are not', async t => {
  const app = await gateway(t, { rest: true })
  const gate = new EventTarget()
  app.mcp.tools.add(tool({ name: 'wait', description: 'd', run: async () => { await once(gate, 'open') } }))
  const watcher = await Watcher.open(t, app)
  const plain = { method: 'POST', headers: { 'content-type': 'application/json' } } as const
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', arguments: {} } }
  const requests = [
    callTool(app, 'wait', {}),
    app.inject({ ...plain, url: '/message', payload: message }),
    app.inject({ ...plain, url: '/api/tools/wait', payload: {} })
  ]
  await until(() => watcher.last('inFlight')?.total === 4)
  const session = await post(app, {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'mine', version: '2' } }
  })
  await callTool(app, 'echo', { text: 'x' })
  await until(() => watcher.last('clients')?.sessions === 1)
  t.match(watcher.last('clients'), {
    total: 2,
    sessions: 1,
    rows: [
      { own: true },
      { session: true, client: 'mine/2', transport: 'http', revision: '2025-11-25', lastCallAt: Number }
    ]
  })
  gate.dispatchEvent(new Event('open'))
  await Promise.all(requests)
  await endSessionOf(app, session)
  await until(() => watcher.last('clients')?.sessions === 0)
})

t.test('without the scope the method does not exist, over HTTP either, and is not declared', async t => {
  const app = await gateway(t, { apiKeys })
  const initialize = { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } }
  const [ada, bob] = [await post(app, initialize, bearer(ADA)), await post(app, initialize, bearer(BOB))]
  t.strictSame(
    (ada.json() as { result: { capabilities: { experimental?: object } } }).result.capabilities.experimental,
    { 'patchbay/tasks': {} }
  )
  t.match(bob.json(), { result: { capabilities: { experimental: { 'patchbay/watch': {} } } } })
  const refused = await post(
    app,
    { id: 2, method: 'patchbay/watch' },
    { ...bearer(ADA), 'mcp-session-id': String(ada.headers['mcp-session-id']) }
  )
  const unknown = await post(
    app,
    { id: 2, method: 'patchbay/hatch' },
    { ...bearer(ADA), 'mcp-session-id': String(ada.headers['mcp-session-id']) }
  )
  t.equal(refused.statusCode, unknown.statusCode)
  t.strictSame(refused.json(), JSON.parse(unknown.body.replace('hatch', 'watch')))
  const client = await createClient(app, { identity: { principal: 'eve', scopes: new Set(['mcp']) } })
  await t.rejects(client.request('patchbay/watch'), { code: -32601, message: 'Method not found: patchbay/watch' })
  t.notMatch(client.server['capabilities'], { experimental: { 'patchbay/watch': {} } })
})

t.test('calls that stay open are told when they end, but not in how long calls take', async t => {
  const app = await gateway(t)
  const [watcher, other] = [await Watcher.open(t, app), await Watcher.open(t, app)]
  await other.stop()
  await watcher.client.call('echo', { text: 'x' })
  await until(
    () => watcher.ended.some(({ method }) => method === 'patchbay/watch') && watcher.last('tools')?.length === 1,
    'both calls'
  )
  const { calls } = watcher.last('totals') as { calls: number }
  t.equal(calls, watcher.ended.length - 1)
})

t.test('a caller that loses the scope is told nothing more', async t => {
  const app = await gateway(t)
  const scopes = new Set(['admin'])
  const watcher = await Watcher.open(t, app, { identity: { principal: 'eve', scopes } })
  let answer: unknown
  void watcher.answer.then(value => { answer = value })
  scopes.delete('admin')
  await until(() => answer !== undefined)
  t.strictSame(answer, {})
  const { length } = watcher.batches
  const other = await Watcher.open(t, app)
  await (await createClient(app)).call('echo', { text: 'x' })
  await until(() => other.ended.some(({ tool }) => tool === 'echo'), 'a batch with the call, for one who may watch')
  t.equal(watcher.batches.length, length)
})

t.test('a watcher is told of the calls and refusals before it came', async t => {
  const app = await gateway(t)
  const other = await createClient(app)
  await other.call('echo', { text: 'x' })
  await other.call('refuse').catch(() => {})
  await callTool(app, 'echo', { text: 'x' })
  app.mcp.dispatcher.observers.reportRefusal({ refusal: 'origin' }, 403)
  const watcher = new Watcher(other)
  await until(() => watcher.seconds.length > 0 && watcher.last('totals') !== undefined)
  t.match(
    watcher.ended.map(({ tool, outcome }) => (tool === undefined ? undefined : `${String(tool)} ${String(outcome)}`)),
    [undefined, 'echo ok', 'refuse failed', 'echo ok']
  )
  t.strictSame(
    watcher.ended.map(({ own }) => own),
    [true, true, true, undefined],
    'those of its own connection are marked'
  )
  t.match(watcher.last('totals'), { calls: 4, errors: 1 })
  t.match(watcher.last('tools'), [{ name: 'echo', calls: 2 }, { name: 'refuse', calls: 1, errors: 1 }])
  t.match(watcher.last('refusals'), [{ reason: 'origin', status: 403, count: 1 }])
  t.match(watcher.last('clients'), { rows: [{ lastCallAt: Number }] })
  await watcher.stop()
  await callTool(app, 'echo', { text: 'x' })
  const later = await Watcher.open(t, app)
  await until(() => later.ended.length >= 6, 'and of those while there was no watcher')
})

t.test('while there is no watcher, one listener records calls and one refusals', async t => {
  const app = await gateway(t)
  const before = listeners(app)
  const [one, two] = [await Watcher.open(t, app), await Watcher.open(t, app)]
  t.strictSame(
    listeners(app),
    [Number(before[0]) + 1, Number(before[1]) + 1, before[2]],
    'more for all watchers together'
  )
  await one.stop()
  two.client.close()
  await until(() => listeners(app).join() === before.join())
})

t.test('a watcher that comes later gets the last 1,000 calls first, 200 at a time', async t => {
  const app = await gateway(t)
  const first = await Watcher.open(t, app)
  const other = await createClient(app)
  for (let count = 0; count < 1_100; count++) await other.call('echo', { text: 'x' })
  const late = await Watcher.open(t, app)
  await until(() => late.ended.length >= 1_000)
  t.ok(late.batches.every(({ ended = [] }) => ended.length <= 200))
  const times = late.ended.map(({ at }) => Number(at))
  t.strictSame(times, times.toSorted((one, two) => one - two), 'oldest first')
  await until(() => first.ended.length + first.dropped >= 1_101)
})

t.test('of more calls than a batch has, the newest are sent and the others counted', async t => {
  const app = await gateway(t)
  const watcher = await Watcher.open(t, app)
  const other = await createClient(app)
  const CALLS = 5_000
  await Promise.all(
    Array.from(
      { length: CALLS },
      async (_, index) =>
        await other
          .call(index === CALLS - 1 ? 'say' : 'echo', index === CALLS - 1 ? { level: 'info', text: '' } : { text: 'x' })
          .catch(() => {})
    )
  )
  await until(() => watcher.ended.length + watcher.dropped === CALLS + 2)
  t.ok(watcher.dropped > 0, `${watcher.dropped} dropped`)
  t.ok(watcher.batches.every(({ ended = [] }) => ended.length <= 200))
  t.equal(watcher.ended.at(-1)?.['tool'], 'say', 'the last call is there')
  await until(() => watcher.last('totals')?.['calls'] === CALLS + 2)
})

t.test('the 33rd watcher is refused, until one has left', async t => {
  const app = await gateway(t)
  const client = await createClient(app)
  const watching = Array.from({ length: 32 }, () => new AbortController()).map(controller => ({
    controller,
    answer: client.request('patchbay/watch', {}, controller.signal).catch(() => {})
  }))
  await until(() => client.notifications.length >= 32)
  await t.rejects(client.request('patchbay/watch'), { code: -32603, message: /At most 32/ })
  watching[0]?.controller.abort()
  await watching[0]?.answer
  await Watcher.open(t, app)
  client.close()
})

t.test('a shutdown answers the request with an empty result', async t => {
  const app = await gateway(t)
  const watcher = await Watcher.open(t, app)
  await app.close()
  t.strictSame(await watcher.answer, {})
})

t.test('after a feed that could not be opened the next watcher gets another', async t => {
  const app = await gateway(t)
  const { dispatcher } = app.mcp
  const client = await createClient(app)
  const { server } = dispatcher
  Object.defineProperty(dispatcher, 'server', { configurable: true, get: () => { throw new Error('not now') } })
  await t.rejects(client.request('patchbay/watch'), { code: -32603 })
  Object.defineProperty(dispatcher, 'server', { value: server })
  t.match((await Watcher.open(t, app)).batches[0], { gateway: { name: 'mcp-patchbay' } })
})

t.test('what an upstream wrote last is told while it fails, and since when it is as it is', async t => {
  const before = Date.now()
  const { entry } = await openFixture(t, 'stdio', newestLegacy)
  const app = await gateway(t, {
    mcpServers: {
      broken: { command: process.execPath, args: ['-e', 'console.error("no disk"); process.exit(3)'] },
      good: entry
    }
  })
  const upstream = (alias: string): Record<string, unknown> | undefined =>
    watcher.last('upstreams')?.find(row => row['alias'] === alias)
  const watcher = await Watcher.open(t, app)
  await until(() => upstream('broken')?.['lastLines'] !== undefined && upstream('good')?.['state'] === 'ready')
  t.match(upstream('broken'), { since: Number, failing: true, lastError: /code 3/, lastLines: ['no disk'] })
  t.ok(Number(upstream('good')?.['since']) >= before && Number(upstream('good')?.['since']) <= Date.now())
})

t.test('what is repaired and left out of the lists of an upstream is told', async t => {
  const program = `require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } : { tools: [{ name: 'a', inputSchema: {} }, { name: 'b', inputSchema: 7 }] }
    const answer = method === 'initialize' || method === 'tools/list' ? { result } : { error: { code: -32601, message: 'no' } }
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
  })`
  const app = await gateway(t, { mcpServers: { odd: { command: process.execPath, args: ['-e', program] } } })
  const watcher = await Watcher.open(t, app)
  await until(() => watcher.last('upstreams')?.[0]?.['warnings'] !== undefined)
  t.match(watcher.last('upstreams'), [
    { alias: 'odd', tools: 1, repaired: 1, warnings: ['tool "b" is left out: its inputSchema is not an object'] }
  ])
})

t.test('what an upstream offers and was not accepted is told', async t => {
  const program = `require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
    const { id, method, params } = JSON.parse(line)
    const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } : { tools: [{ name: 'a\\u200b', inputSchema: { type: 'object' } }] }
    const answer = method === 'initialize' || method === 'tools/list' ? { result } : { error: { code: -32601, message: 'no' } }
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
  })`
  const up = { command: process.execPath, args: ['-e', program] }
  const app = await gateway(t, { pins: 'report', mcpServers: { up, free: { ...up, pins: 'off' } } })
  const watcher = await Watcher.open(t, app)
  const row = (alias: string): Record<string, unknown> | undefined =>
    watcher.last('upstreams')?.find(each => each['alias'] === alias)
  await until(() => row('up')?.['pins'] !== undefined && row('free')?.['tools'] === 1)
  t.match(row('up')?.['pins'], {
    mode: 'report',
    differences: [/^nothing of it was accepted yet; an operator can look at it with patchbay pins diff up/],
    marks: [/^tool "a.": name has 1 characters that are invisible/]
  })
  t.equal(row('free')?.['pins'], undefined)
})

t.test('a watcher that names members is told only these', async t => {
  const app = await gateway(t)
  const client = await createClient(app)
  await client.call('echo', { text: 'x' })
  const controller = new AbortController()
  const answer = client.request('patchbay/watch', { only: ['upstreams', 'health'] }, controller.signal).catch(() => {})
  await until(() => client.notifications.length > 0)
  t.strictSame(Object.keys(client.notifications[0]?.params ?? {}).sort(), ['at', 'health', 'requestId', 'upstreams'])
  await t.rejects(client.request('patchbay/watch', { only: ['arguments'] }), { code: -32602 })
  controller.abort()
  await answer
})

t.test('trouble and refusals are told soon', async t => {
  const app = await gateway(t, { apiKeys })
  const watcher = await Watcher.open(t, app)
  app.mcp.health.report('disk', 'it is full')
  await until(() => watcher.last('health')?.['status'] === 'degraded')
  t.match(watcher.last('health'), { ready: true, reason: 'it is full', parts: { disk: 'it is full' } })
  for (let count = 0; count < 3; count++) {
    t.equal((await post(app, { id: 1, method: 'ping' }, bearer('wrong'))).statusCode, 401)
  }
  await until(() => watcher.last('refusals')?.[0]?.['count'] === 3)
  t.match(watcher.last('refusals'), [{ reason: String, status: 401, count: 3, last: Number }])
})
