import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { build, type Options } from '../../app.js'
import { now } from '../../lib/time.js'
import type { Connection, Upstream } from '../../upstreams/ports.js'
import { ADA, apiKeys, bearer, BOB } from '../support/keys.js'
import { folder } from '../support/process.js'
import { isRunning, pidsIn, untilGone } from '../support/processes.js'
import { bestTime } from '../support/timing.js'
import { inFrontOf } from '../support/upstreams.js'
import { takeTime, until } from '../support/wait.js'
import { Watcher } from '../support/watcher.js'

const PROGRAM = fileURLToPath(new URL('./programs/server.js', import.meta.url))

/** A gateway in front of programs that each have these variables; the alias is the key. */
async function open (
  t: Test,
  servers: Record<string, Record<string, string>>,
  options: Partial<Options> = {},
  fields = {}
) {
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([alias, env]) => [
      alias,
      { command: process.execPath, args: [PROGRAM], env, ...fields }
    ])
  )
  const app = await build({
    ephemeral: true,
    ...options,
    limits: { maxEventLoopDelay: 60_000, upstreamStopTimeout: 200, upstreamRestartDelay: 20, ...options.limits },
    mcpServers
  })
  t.teardown(async () => await app.close())
  await app.ready()
  const get = (alias: string): Upstream => {
    const upstream = app.mcp.upstreams.get(alias)
    if (upstream === undefined) throw new Error(`there is no upstream ${alias}`)
    return upstream
  }
  return { app, get }
}

const call = async (connection: Connection, name: string, key = ''): Promise<string> => {
  const { content } = await connection.request({ method: 'tools/call', params: { name, arguments: { key } } })
  return (content as { text: string }[])[0]?.text ?? ''
}

for (const way of ['exit', 'half', 'crash']) {
  t.test(`calls in flight fail at once when the server ends (${way}), and those of other servers go on`, async t => {
    const { get } = await open(t, { a: {}, b: {} })
    const b = await get('b').shared()
    const other = call(b, 'hang')
    const took = await bestTime(1_000, async () => {
      // After the first attempt it is started again, and refused meanwhile.
      await until(() => get('a').status.state === 'ready')
      const a = await get('a').shared()
      const hanging = call(a, 'hang')
      const begin = now()
      await t.rejects(call(a, way), { message: /upstream server a .* whether the call took effect is not known/ })
      await t.rejects(hanging, { message: /upstream server a / })
      return now() - begin
    }, 3)
    t.ok(took < 1_000, `within a second: ${took} ms`)
    t.equal(await call(b, 'echo', 'x'), 'x')
    t.equal(await Promise.race([other.catch(() => 'failed'), Promise.resolve('waits')]), 'waits')
    other.catch(() => {})
  })
}

t.test('a server that ended is back after the delay, and says why it ended', async t => {
  const { get } = await open(t, { a: {} })
  const upstream = get('a')
  const first = await upstream.shared()
  await t.rejects(call(first, 'exit'))
  await until(() => upstream.status.state === 'ready')
  t.match(upstream.status, { restarts: 1, lastError: 'it exited with code 7' })
  t.not(await upstream.shared(), first)
})

t.test('a call during the delay is refused with the time of the next try', async t => {
  const { get } = await open(
    t,
    { a: {} },
    { limits: { upstreamRestartDelay: 60_000, upstreamRestartDelayMax: 60_000 } }
  )
  const upstream = get('a')
  await t.rejects(call(await upstream.shared(), 'exit'))
  await until(() => upstream.status.state === 'backing off')
  await t.rejects(upstream.shared(), {
    message: /^The upstream server a is not available: .*; it is tried again in \d+ s$/,
    data: { upstream: 'a' }
  })
})

t.test('a server that fails too often is not started again until it is asked for', async t => {
  const starts = join(await folder(t, {}), 'starts')
  const { get } = await open(
    t,
    { a: { STARTS: starts } },
    { limits: { maxUpstreamFailures: 3, upstreamRestartDelay: 1, upstreamRestartDelayMax: 1 } }
  )
  const upstream = get('a')
  for (let count = 1; count <= 3; count++) {
    await until(() => upstream.status.state === 'ready')
    await t.rejects(call(await upstream.shared(), 'exit'))
  }
  await until(() => upstream.status.state === 'crash loop')
  const [, , last = 0] = await pidsIn(starts, 3)
  await untilGone([last])
  t.equal(readFileSync(starts, 'utf8').trim().split('\n').length, 3)
  await until(async () => await upstream.shared().then(() => true, () => false))
  t.equal(await call(await upstream.shared(), 'echo', 'back'), 'back')
  await t.rejects(call(await upstream.shared(), 'exit'))
  t.equal(upstream.status.state, 'crash loop', 'one try for each time it is asked for')
})

t.test('a server that does not get ready is ended after the time for a start', async t => {
  const starts = join(await folder(t, {}), 'starts')
  const { get } = await open(
    t,
    { a: { STARTS: starts, SILENT: '1' } },
    { limits: { upstreamStartTimeout: 1_500, upstreamRestartDelay: 60_000, upstreamRestartDelayMax: 60_000 } }
  )
  const upstream = get('a')
  await t.rejects(upstream.shared(), { message: /upstream server a is not available/ })
  t.match(upstream.status, { state: 'backing off', lastError: 'it was not ready within 1.5 s' })
  await untilGone(await pidsIn(starts, 1))
})

t.test('few servers start at a time, one that is called starts at once', async t => {
  const starts = join(await folder(t, {}), 'starts')
  const env = { STARTS: starts, SILENT: '1' }
  const { get } = await open(t, { a: env, b: env, c: env, d: { STARTS: starts } }, { limits: { maxUpstreamStarts: 1 } })
  await pidsIn(starts, 1)
  t.equal(await call(await get('d').shared(), 'echo', 'x'), 'x')
  t.equal((await pidsIn(starts, 2)).length, 2)
})

t.test('a lazy server is started by a call and stopped when it is not used', async t => {
  const starts = join(await folder(t, {}), 'starts')
  const { get } = await open(t, { a: { STARTS: starts } }, {}, { start: 'lazy', idle: 300 })
  const upstream = get('a')
  // It is started once for its lists, which are not known yet.
  await until(() => upstream.status.state === 'stopped' && upstream.status.revision !== undefined)
  const connection = await upstream.shared()
  const pid = Number(await call(connection, 'pid'))
  await until(() => upstream.status.state === 'stopped')
  await untilGone([pid])
  t.not(Number(await call(await upstream.shared(), 'pid')), pid)
  t.equal((await pidsIn(starts, 3)).length, 3)
})

t.test('nothing is left of a server and what it started when the gateway is closed', async t => {
  const starts = join(await folder(t, {}), 'starts')
  const { app, get } = await open(t, { a: { STARTS: starts, GRANDCHILD: '1', DEAF: '1' } })
  await get('a').shared()
  const pids = await pidsIn(starts, 2)
  t.ok(pids.every(isRunning))
  await app.close()
  t.notOk(pids.some(isRunning))
})

t.test('a start that is under way when the gateway is closed leaves nothing', async t => {
  const starts = join(await folder(t, {}), 'starts')
  const { app } = await open(t, { a: { STARTS: starts, SILENT: '1', DEAF: '1', GRANDCHILD: '1' } })
  const pids = await pidsIn(starts, 2)
  await app.close()
  await untilGone(pids, 5_000)
})

t.test(
  'what a server that failed wrote last is in the log and, for operators, in /health, without its secrets',
  async t => {
    const { app, get } = await open(t, { a: { KEY: 'abcdefgh' } })
    const upstream = get('a')
    await t.rejects(call(await upstream.shared(), 'exit'))
    await until(() => upstream.status.state === 'ready')
    t.strictSame(
      upstream.lastLines(),
      ['the server has started', 'the key is ***'],
      'once, although it was started again'
    )
    const { body } = await app.inject('/health')
    t.match(JSON.parse(body), {
      upstreams: [
        { alias: 'a', lastError: 'it exited with code 7', lastLines: ['the server has started', 'the key is ***'] }
      ]
    })
    t.notMatch(body, 'abcdefgh')
  }
)

t.test(
  'a server is failing from its end until it is ready again, and watchers are told its last lines also afterwards',
  async t => {
    const { app, get } = await open(t, { a: {} })
    const upstream = get('a')
    const changes: Array<[state: string, isFailing: boolean]> = []
    await upstream.shared()
    const { since } = upstream
    const remove = upstream.onChange(() => changes.push([upstream.status.state, upstream.isFailing]))
    await t.rejects(call(await upstream.shared(), 'exit'))
    await until(() => changes.at(-1)?.[0] === 'ready')
    remove()
    t.strictSame(changes, [
      ['backing off', true],
      ['backing off', true],
      ['ready', false]
    ])
    t.ok(upstream.since > since)
    const watcher = await Watcher.open(t, app)
    t.match(watcher.last('upstreams'), [
      { alias: 'a', state: 'ready', since: upstream.since, lastError: 'it exited with code 7' }
    ])
    t.match(watcher.last('upstreams'), [
      { failing: undefined, nextTryAt: undefined, lastLines: ['the server has started'] }
    ])
  }
)

t.test('what a server wrote is shown to operators only', async t => {
  const { app, get } = await open(t, { a: {} }, { apiKeys })
  await t.rejects(call(await get('a').shared(), 'exit'))
  const health = async (headers: Record<string, string>) => (await app.inject({ url: '/health', headers })).body
  t.notMatch(await health({}), 'has started')
  t.match(await health(bearer(ADA)), 'it exited with code 7')
  t.notMatch(await health(bearer(ADA)), 'has started')
  t.match(await health(bearer(BOB)), 'has started')
})

t.test('a server with a URL is tried again for ever', async t => {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    response.writeHead(503).end()
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const app = await build({
    ephemeral: true,
    limits: { upstreamRestartDelay: 1, upstreamRestartDelayMax: 1, maxUpstreamFailures: 2 },
    mcpServers: { a: { url: `http://127.0.0.1:${port}/mcp`, type: 'http' } }
  })
  t.teardown(async () => await app.close())
  await app.ready()
  await until(() => requests > 20)
  t.not(app.mcp.upstreams.get('a')?.status.state, 'crash loop')
})

t.test('a server whose list takes longer than it may be idle is not stopped before the list is read', async t => {
  let lists = 0
  const serverInfo = { name: 'slow', version: '1' }
  const server = Fastify()
  server.post('/mcp', async (request, reply) => {
    const { id, method } = request.body as { id?: number, method: string }
    if (id === undefined) return await reply.code(202).send()
    if (method === 'initialize') {
      return { jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }
    }
    if (method !== 'tools/list') return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
    lists++
    await takeTime(400)
    return { jsonrpc: '2.0', id, result: { tools: [{ name: 'slow', inputSchema: { type: 'object' } }] } }
  })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => await server.close())
  const { app } = await inFrontOf(t, { slow: { url: `${url}/mcp`, idle: 50 } })
  await until(() => app.mcp.upstreams.status().every(({ state }) => state === 'stopped'), 'it is idle afterwards')
  t.equal(lists, 1)
})
