import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import WebSocket from 'ws'
import { serveStdio, tool } from '../../../app.js'
import fixture, { gateway, listening } from '../../support/gateway.js'
import { openSession, post, slow } from '../../support/http-session.js'
import { scrape, sum } from '../../support/metrics.js'
import { call } from '../../support/messages.js'
import { modernMeta } from '../../support/modern.js'
import { client, revision } from '../../support/recorder.js'
import { startServer } from '../../support/server.js'
import { transports } from '../../support/transports.js'
import { until } from '../../support/wait.js'

const BUCKETS = [
  '0.0005',
  '0.001',
  '0.0025',
  '0.005',
  '0.01',
  '0.02',
  '0.05',
  '0.1',
  '0.2',
  '0.5',
  '1',
  '2',
  '5',
  '10',
  '30',
  '60',
  '120',
  '300',
  '+Inf'
]
const OPERATION = 'mcp_server_operation_duration_seconds'
const echo = { name: 'echo', arguments: { text: 'a' } }

t.test('each ended call is timed by method, tool and error, and counted by transport, revision and outcome', async t => {
  const app = await gateway(t, {
    plugins: [
      fixture,
      async ({ mcp: { tools } }) => {
        tools.add(tool({ name: 'guarded', description: 'd', scopes: ['vault'], run: () => 'open' }))
      }
    ]
  })
  const { request, ask, send } = client(app.mcp.dispatcher, {
    transport: 'websocket',
    identity: { principal: 'ada', scopes: new Set(['mcp']) }
  })
  for (const name of ['echo', 'refuse', 'boom', 'guarded', 'nothing']) {
    await request('tools/call', { name, arguments: name === 'echo' ? { text: 'a' } : {} })
  }
  await request('tools/list')
  await request('no/such/method')
  const id = ask('tools/call', { name: 'slow', arguments: { steps: 1, delay: 600_000 } })
  await until(async () => sum(await scrape(app), 'patchbay_calls_in_flight', { transport: 'websocket' }) === 1)
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  const series = await scrape(app)
  const timed = (labels: Record<string, string>) => sum(series, `${OPERATION}_count`, labels)
  t.strictSame(
    [...series.keys()].flatMap(
      key =>
        /^mcp_server_operation_duration_seconds_bucket\{mcp_method_name="tools\/list",le="([^"]*)"/.exec(key)?.[1] ?? []
    ),
    BUCKETS
  )
  t.equal(series.get(`${OPERATION}_count{mcp_method_name="tools/call",gen_ai_tool_name="echo"}`), 1)
  t.equal(timed({ gen_ai_tool_name: 'refuse', error_type: 'tool_error' }), 1)
  t.equal(timed({ gen_ai_tool_name: 'boom', error_type: '-32603' }), 1)
  t.equal(timed({ gen_ai_tool_name: 'guarded', error_type: '-32602' }), 1)
  t.equal(
    series.get(`${OPERATION}_count{mcp_method_name="tools/call",error_type="-32602"}`),
    1,
    'an unknown tool has no name'
  )
  t.equal(timed({ mcp_method_name: '_OTHER', error_type: '-32601' }), 1)
  t.equal(
    series.get(`${OPERATION}_count{mcp_method_name="tools/call",gen_ai_tool_name="slow"}`),
    1,
    'a cancelled call is no error'
  )
  for (const [tool, outcome] of [
    ['echo', 'ok'],
    ['refuse', 'failed'],
    ['boom', 'error'],
    ['guarded', 'denied'],
    ['slow', 'cancelled']
  ] as const) {
    t.equal(
      series.get(
        `patchbay_calls_total{method="tools/call",tool="${tool}",transport="websocket",revision="2025-06-18",outcome="${outcome}"}`
      ),
      1,
      outcome
    )
  }
  t.ok(sum(series, `${OPERATION}_sum`) > 0)
})

t.test('clients, sessions, streams and queues are counted when they are asked for', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const stream = await session.listen()
  const reply = await session.stream(slow(1, 100_000, 20))
  await until(async () => sum(await scrape(app), 'patchbay_calls_in_flight', { transport: 'http' }) === 1)
  const series = await scrape(app)
  t.equal(series.get('patchbay_sessions'), 1)
  t.equal(series.get('patchbay_peers{transport="http"}'), 1)
  for (const transport of ['sse', 'stdio', 'websocket', 'memory']) {
    t.equal(series.get(`patchbay_peers{transport="${transport}"}`), 0, transport)
  }
  t.equal(series.get('patchbay_streams{kind="listening"}'), 1)
  t.equal(series.get('patchbay_streams{kind="replies"}'), 1)
  t.equal(series.get('patchbay_queue_bytes'), 0)
  for (const each of [stream, reply]) each.drop()
  await session.end()
  await until(async () => sum(await scrape(app), 'patchbay_streams') === 0)
  t.equal((await scrape(app)).get('mcp_server_session_duration_seconds_count{revision="2025-11-25"}'), 1)
})

t.test('a session that another handshake replaces on the same connection is counted, too', async t => {
  const app = await gateway(t)
  const { request, peer } = client(app.mcp.dispatcher, { transport: 'websocket' })
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
  for (const each of [hello, hello]) await request('initialize', each)
  t.equal((await scrape(app)).get('mcp_server_session_duration_seconds_count{revision="2025-06-18"}'), 1)
  app.mcp.dispatcher.lifecycle.disconnect(peer, new Error('gone'))
  t.equal((await scrape(app)).get('mcp_server_session_duration_seconds_count{revision="2025-06-18"}'), 2)
})

t.test('clients that do not read or answer are counted when they are cut', async t => {
  const { app, url } = await listening(t, { limits: { maxQueue: 1_000, writeDeadline: 50, heartbeat: 100 } })
  const dead = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { autoPong: false })
  await once(dead, 'open')
  await until(async () => sum(await scrape(app), 'patchbay_cut_total', { reason: 'heartbeat' }) === 1)
  const output = new Writable({ write: () => {} })
  const { closed } = serveStdio(app.mcp, {
    input: new PassThrough(),
    output,
    maxMessage: 1_000,
    maxQueue: 100,
    writeDeadline: 20
  })
  const [peer] = [...app.mcp.dispatcher.lifecycle.peers].filter(({ transport }) => transport === 'stdio')
  peer?.notify('notifications/message', { data: 'a'.repeat(90) })
  await until(async () => sum(await scrape(app), 'patchbay_cut_total', { reason: 'deadline' }) === 1)
  await closed
  const other = serveStdio(app.mcp, {
    input: new PassThrough(),
    output: new Writable({ write: () => {} }),
    maxMessage: 1_000,
    maxQueue: 10,
    writeDeadline: 60_000
  })
  const [second] = [...app.mcp.dispatcher.lifecycle.peers].filter(({ transport }) => transport === 'stdio')
  for (let sent = 0; sent < 20; sent++) second?.notify('notifications/message', { data: 'a'.repeat(60) })
  await until(async () => sum(await scrape(app), 'patchbay_cut_total', { reason: 'queue' }) === 1)
  await other.closed
})

t.test('refusals are counted by reason and status', async t => {
  const { app, url } = await listening(t, { limits: { maxSessions: 1 } })
  await openSession(url)
  await post(url, { id: 0, method: 'initialize', params: {} })
  await fetch(`${url}/mcp`, { headers: { origin: 'https://elsewhere.example' } })
  const series = await scrape(app)
  t.equal(series.get('patchbay_refused_total{reason="sessions",status="503"}'), 1)
  t.equal(series.get('patchbay_refused_total{reason="origin",status="403"}'), 1)
})

t.test('questions are counted by method and outcome, and timed', async t => {
  const app = await gateway(t)
  const legacy = client(app.mcp.dispatcher, { transport: 'websocket' })
  legacy.peer.open(revision('2025-06-18'), undefined, { elicitation: {}, roots: {} })
  legacy.ask('tools/call', { name: 'ask_name', arguments: {} })
  const { id, method } = await legacy.channel.next() as { id: string, method: string }
  t.equal(method, 'elicitation/create')
  legacy.send({ jsonrpc: '2.0', id, result: { action: 'decline' } })
  await legacy.channel.next()
  legacy.ask('tools/call', { name: 'ask_roots', arguments: {} })
  const roots = await legacy.channel.next() as { id: string }
  legacy.send({ jsonrpc: '2.0', id: roots.id, error: { code: -32603, message: 'no' } })
  await legacy.channel.next()
  const abandoned = legacy.ask('tools/call', { name: 'ask_name', arguments: {} })
  await legacy.channel.next()
  legacy.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: abandoned } })
  const modern = client(app.mcp.dispatcher, { transport: 'websocket', revision: revision('2026-07-28') })
  await modern.request('tools/call', { name: 'ask_name', arguments: {}, _meta: modernMeta({ elicitation: {} }) })
  await until(async () => sum(await scrape(app), 'patchbay_questions_total') === 4)
  const series = await scrape(app)
  for (const [method, outcome] of [
    ['elicitation/create', 'answered'],
    ['roots/list', 'error'],
    ['elicitation/create', 'cancelled'],
    ['elicitation/create', 'deferred']
  ] as const) {
    t.equal(series.get(`patchbay_questions_total{method="${method}",outcome="${outcome}"}`), 1, outcome)
  }
  t.equal(
    sum(series, 'patchbay_questions_wait_seconds_count'),
    3,
    'a question that leaves with a result is not waited for'
  )
})

t.test('events are counted when they are stored and when they are read again, and so is each resume', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const reply = await session.stream(slow(1, 3, 10))
  const events = await reply.rest()
  const ids = events.flatMap(({ id }) => id === undefined ? [] : [id])
  const resume = async (id: string) => {
    const stream = await session.listen(id)
    await stream.rest().catch(() => {})
    stream.drop()
    return stream.response.status
  }
  t.equal(await resume(ids[0] as string), 200)
  t.equal(await resume(ids.at(-1) as string), 204)
  t.equal(await resume('99-99'), 404)
  const series = await scrape(app)
  t.ok((series.get('patchbay_events_appended_total') ?? 0) >= 4, 'three of progress and the response')
  t.ok((series.get('patchbay_events_replayed_total') ?? 0) >= 3)
  for (const outcome of ['ok', 'exhausted', 'gone']) {
    t.equal(series.get(`patchbay_resume_total{outcome="${outcome}"}`), 1, outcome)
  }
})

t.test('operations of the store are timed, and its state is told', async t => {
  const { app, url } = await listening(t)
  await openSession(url)
  const series = await scrape(app)
  t.equal(series.get('patchbay_store_duration_seconds_count{op="save",kind="memory"}'), 1)
  t.equal(series.get('patchbay_store_up{kind="memory"}'), 1)
})

/** The names by which dashboards for Node.js find a process; those of memory and files are Linux's. */
const PROCESS = [
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  ...(process.platform === 'linux'
    ? ['process_virtual_memory_bytes', 'process_heap_bytes', 'process_open_fds', 'process_max_fds']
    : []),
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  ...['total', 'used', 'available'].map(part => `nodejs_heap_space_size_${part}_bytes`),
  'nodejs_version_info',
  'nodejs_eventloop_lag_seconds',
  ...['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(part => `nodejs_eventloop_lag_${part}_seconds`)
]

t.test('the build and the process are described', async t => {
  const app = await gateway(t)
  const names = new Set([...(await scrape(app)).keys()].map(key => key.split('{')[0] as string))
  t.match(
    [...(await scrape(app)).keys()].find(key => key.startsWith('patchbay_build_info')),
    `node="${process.versions.node}"`
  )
  for (const name of PROCESS) t.ok(names.has(name), name)
})

t.test('the metrics of the process say what Node.js says of it', async t => {
  const app = await gateway(t)
  const series = await scrape(app)
  const [user = 0, system = 0, both = 0] = ['user_', 'system_', ''].map(part =>
    series.get(`process_cpu_${part}seconds_total`)
  )
  const { user: microseconds } = process.cpuUsage()
  t.ok(user > 0 && user <= microseconds / 1e6, 'all of the process, not since the start of the gateway')
  t.ok(Math.abs(user + system - both) < 1e-6)
  const within = (name: string, expected: number, share: number): void => {
    const value = series.get(name) ?? NaN
    t.ok(Math.abs(value - expected) <= share * expected, `${name} ${value}, about ${expected}`)
  }
  within('process_start_time_seconds', Date.now() / 1_000 - process.uptime(), 1e-8)
  within('process_resident_memory_bytes', process.memoryUsage().rss, 0.5)
  within('nodejs_heap_size_used_bytes', process.memoryUsage().heapUsed, 0.5)
  const [major, minor, patch] = process.versions.node.split('.')
  t.equal(
    series.get(`nodejs_version_info{version="${process.version}",major="${major}",minor="${minor}",patch="${patch}"}`),
    1
  )
  for (const space of ['new', 'old', 'code', 'large_object']) {
    t.type(series.get(`nodejs_heap_space_size_used_bytes{space="${space}"}`), 'number', space)
  }
  t.ok((series.get('nodejs_eventloop_lag_seconds') ?? -1) >= 0)
})

t.test('calls over every transport are as many as lines in the audit log', async t => {
  const lines: Array<Record<string, string | undefined>> = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      const { audit } = JSON.parse(String(chunk)) as { audit?: Record<string, string> }
      if (audit?.revision !== undefined) lines.push(audit)
      done()
    }
  })
  const server = await startServer(t, {}, { loggerInstance: pino({ level: 'debug' }, out) })
  for (const open of Object.values(transports)) {
    const { send, close } = await open(server)
    const messages = [
      call('tools/call', echo, 1),
      call('tools/call', { name: 'refuse', arguments: {} }, 2),
      call('tools/call', { name: 'none', arguments: {} }, 3),
      call('tools/list', {}, 4),
      call('no/such', {}, 5)
    ]
    for (const message of messages) await send(message)
    await close()
  }
  await until(() => server.app.mcp.dispatcher.lifecycle.peers.size === 0)
  const series = await scrape(server.app)
  const counted = [...series].filter(([key]) => key.startsWith('patchbay_calls_total'))
  const keyOf = ({ method, tool, transport, revision, outcome }: Record<string, string | undefined>) =>
    `patchbay_calls_total{method="${method ?? '_OTHER'}",${tool === undefined ? '' : `tool="${tool}",`}transport="${transport}",revision="${revision}",outcome="${outcome}"}`
  const expected = new Map<string, number>()
  for (const line of lines) expected.set(keyOf(line), (expected.get(keyOf(line)) ?? 0) + 1)
  t.ok(lines.length > 90, `${lines.length} calls`)
  t.strictSame(new Map([...counted].sort()), new Map([...expected].sort()))
  t.equal(sum(series, `${OPERATION}_count`), lines.length)
})
