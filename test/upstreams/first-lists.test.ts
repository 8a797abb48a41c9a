import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, type Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { callTool, modernMeta } from '../support/modern.js'
import { folder, launch } from '../support/process.js'
import { inTime, until } from '../support/wait.js'
import { modern } from '../support/specification/revisions.js'

const PROGRAM = fileURLToPath(new URL('./programs/server.js', import.meta.url))
/** Longer than a test may take. */
const LONG = { limits: { upstreamListWait: 600_000 }, callTimeout: 600_000 }
const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover']

const program = (env: Record<string, string> = {}) => ({ command: process.execPath, args: [PROGRAM], env })

/** A gateway in front of `held`, which was never seen before and starts when the test says so, and of other servers. */
async function open (t: Test, options: Partial<Options>, others: Record<string, object> = {}, fields: object = {}) {
  const hold = join(await folder(t, {}), 'go')
  const app = await gateway(t, {
    plugins: [],
    tools: false,
    limits: { upstreamStopTimeout: 50, upstreamRestartDelay: 5 },
    ...options,
    mcpServers: { held: { ...program({ HOLD: hold }), ...fields }, ...others }
  })
  await app.ready()
  return { app, go: async () => await writeFile(hold, '') }
}

/** The result of a request of 2026-07-28 over HTTP. */
async function post (app: FastifyInstance, method: string, view = ''): Promise<Record<string, unknown>> {
  const { body } = await app.inject({
    method: 'POST',
    url: `/mcp${view}`,
    headers: { 'mcp-protocol-version': modern.version, 'mcp-method': method },
    payload: { jsonrpc: '2.0', id: 1, method, params: { _meta: modernMeta() } }
  })
  return (JSON.parse(body) as { result: Record<string, unknown> }).result
}

const names = ({ tools }: Record<string, unknown>): unknown[] =>
  (tools as Array<{ name: string }>).map(({ name }) => name)

t.test(
  'the first lists wait for a server of which nothing is known, on a new connection and on an old one',
  async t => {
    const { app, go } = await open(t, LONG)
    const answered: string[] = []
    const lists = LISTS.map(
      async method =>
        await post(app, method).then(result => {
          answered.push(method)
          return result
        })
    )
    const legacy = createClient(app).then(async client => {
      answered.push('initialize')
      return await client.request('tools/list')
    })
    t.match((await callTool(app, 'other')).error.message, /Unknown tool/)
    t.strictSame(answered, [], 'calls of other tools do not wait')
    await go()
    t.ok(names((await lists[0]) ?? {}).includes('held__echo'))
    t.match(
      await Promise.all(lists),
      LISTS.map(method => ({ ttlMs: method === 'resources/list' ? 0 : 60_000 })),
      'they are complete'
    )
    t.ok(names(await legacy).includes('held__echo'))
  }
)

t.test('after the wait a list is answered without the server, with ttlMs 0, and no later list waits', async t => {
  const { app, go } = await open(t, { limits: { upstreamListWait: 20 } })
  for (const method of [...LISTS, ...LISTS]) t.match(await post(app, method), { ttlMs: 0 }, method)
  await go()
  await until(() => app.mcp.upstreams.status()[0]?.stale === false)
  t.match(
    await Promise.all(LISTS.map(async method => await post(app, method))),
    LISTS.map(method => ({ ttlMs: method === 'resources/list' ? 0 : 60_000 }))
  )
})

t.test('the wait is at most half of what a call may take', async t => {
  const { app } = await open(t, { limits: { upstreamListWait: 600_000 }, callTimeout: 200 })
  t.match(await post(app, 'tools/list'), { ttlMs: 0, tools: [] })
})

t.test('a server that failed is not waited for', async t => {
  for (const start of ['eager', 'lazy']) {
    const { app } = await open(t, LONG, {}, { command: process.execPath, args: ['-e', 'process.exit(3)'], start })
    t.match(await post(app, 'tools/list'), { ttlMs: 0 }, start)
  }
})

t.test('a server whose lists cannot be read is not waited for', async t => {
  const script = `process.stdin.on('data', chunk => { for (const line of String(chunk).split('\\n').filter(Boolean)) {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) continue
    const answer = method === 'initialize' ? { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } } : { error: { code: -32000, message: 'no' } }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  } })`
  const { app } = await open(t, LONG, {}, { command: process.execPath, args: ['-e', script] })
  t.match(await post(app, 'tools/list'), { ttlMs: 0 })
})

t.test('a link runs no tool that may write, and a tool of a server of which nothing is known waits to be known', async t => {
  const { app, go } = await open(t, { ...LONG, rest: true })
  const get = async (method: 'GET' | 'HEAD') => await app.inject({ method, url: '/api/tools/held__echo?text=hi' })
  const replies = [get('GET'), get('HEAD')]
  await go()
  for (const reply of await Promise.all(replies)) t.match(reply, { statusCode: 405, headers: { allow: 'POST' } })
  t.match((await get('GET')).json(), { status: 405, code: 'PATCHBAY_NOT_READ_ONLY', detail: /held__echo/ })
  const posted = await app.inject({ method: 'POST', url: '/api/tools/held__echo', payload: { text: 'hi' } })
  t.equal(posted.statusCode, 200, posted.body)
})

t.test('the view of one server waits for that server alone', async t => {
  const { app, go } = await open(t, LONG, { quick: program() })
  t.match(await post(app, 'server/discover', '/quick'), { ttlMs: 60_000 })
  const tools = await post(app, 'tools/list', '/quick')
  t.ok(names(tools).includes('echo'))
  t.match(tools, { ttlMs: 60_000 })
  const list = post(app, 'tools/list', '/held')
  await go()
  t.ok(names(await list).includes('echo'))
})

t.test('a caller who may not use the server neither waits for it nor learns that it is starting', async t => {
  const { app } = await open(t, LONG, {}, { scopes: ['secret'] })
  const client = await createClient(app, { identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  t.match(await client.request('tools/list', { _meta: modernMeta() }), { ttlMs: 60_000, tools: [] })
})

t.test('a server that is removed, and one that is added, end and begin a wait', async t => {
  const { app } = await open(t, LONG)
  const list = post(app, 'tools/list')
  const { entries } = await app.mcp.upstreams.read({
    ...app.mcp.upstreams,
    mcpServers: { added: program() },
    mcpConfig: [],
    pins: 'off'
  } as never)
  await app.mcp.upstreams.configure(entries)
  await list
  t.ok(names(await post(app, 'tools/list')).includes('added__echo'))
})

t.test('what is stored of a server is listed at once', async t => {
  const data = await folder(t, {})
  const first = await open(t, { ephemeral: false, data, ...LONG })
  await first.go()
  await until(() => first.app.mcp.upstreams.status()[0]?.stale === false)
  await first.app.close()
  const mcpServers = { held: { ...program({ HOLD: join(data, 'never') }) } }
  const again = await gateway(t, {
    plugins: [],
    tools: false,
    ephemeral: false,
    data,
    ...LONG,
    limits: { ...LONG.limits, upstreamStopTimeout: 50 },
    mcpServers
  })
  const list = await post(again, 'tools/list')
  t.ok(names(list).includes('held__echo'))
  t.match(list, { ttlMs: 60_000 })
})

t.test('a client that starts the command over stdio and lists at once gets the tools of its servers', async t => {
  const config = JSON.stringify({ mcpServers: { one: program() } })
  const path = await folder(t, { 'servers.json': config })
  for (const params of [{}, { _meta: modernMeta() }]) {
    const launched = launch(t, ['--stdio', '--ephemeral', '--mcp-config', join(path, 'servers.json')])
    if (params._meta === undefined) {
      launched.send(
        {
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } }
        },
        { method: 'notifications/initialized' }
      )
    }
    launched.send({ id: 2, method: 'tools/list', params })
    let answer = await launched.next()
    while (answer['id'] !== 2) answer = await launched.next()
    t.ok(names(answer['result'] as Record<string, unknown>).includes('one__echo'))
    launched.kill('SIGTERM')
    await launched.exit()
  }
})

t.test('a call of a server that is removed while it starts is answered when it has started', async t => {
  const { app, go } = await open(t, LONG)
  const answer = callTool(app, 'held__echo')
  await until(() => app.mcp.dispatcher.callsInFlight().length === 1, 'the call')
  const removed = app.mcp.upstreams.configure([])
  await until(() => app.mcp.upstreams.status().length === 0, 'the removal')
  await go()
  t.match((await inTime(answer, 'the answer')).error, { message: /held is not available: its lists could not be read/ })
  await removed
})
