import { once } from 'node:events'
import { Writable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import WebSocket from 'ws'
import { createClient, tool, ToolError, type Options } from '../../../app.js'
import { host, asJson } from '../../support/host.js'
import { gateway, listening } from '../../support/gateway.js'
import { modernMeta } from '../../support/modern.js'
import { client, revision, type Json } from '../../support/recorder.js'

type Line = Json & { msg: string, audit?: Json }

/** A logger of the level an operator has, and what it wrote. */
function logging (level = 'info') {
  const lines: Line[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Line)
      done()
    }
  })
  return {
    loggerInstance: pino({ level }, out),
    lines,
    audited: () => lines.flatMap(({ audit }) => (audit === undefined ? [] : [audit]))
  }
}

const UNHAPPY = [
  tool({ name: 'declines', description: 'Fails in its own words', run: () => { throw new ToolError('no') } }),
  tool({ name: 'breaks', description: 'Throws', run: () => { throw new Error('broken') } }),
  tool({ name: 'guarded', description: 'Needs a scope', scopes: ['vault'], run: () => 'open' })
]

async function audited (t: Test, options: Partial<Options> = {}) {
  const { loggerInstance, lines, audited } = logging()
  const app = await gateway(
    t,
    {
      http: false,
      plugins: [
        async (app: FastifyInstance) => {
          for (const item of UNHAPPY) app.mcp.tools.add(item)
        }
      ],
      ...options
    },
    { loggerInstance }
  )
  // Lines wait for others, but not beyond the end.
  return { app, lines, audited: async () => { await app.close(); return audited() } }
}

t.test('each call is one line: who, with which client, what, how it went, and how long it took', async t => {
  const { app, audited: lines } = await audited(t)
  const { request } = client(app.mcp.dispatcher, {
    transport: 'websocket',
    identity: { principal: 'ada', scopes: new Set(['mcp', 'notes']) }
  })
  await request('tools/call', { name: 'calculate', arguments: { operation: 'add', a: 1, b: 2 } })
  await request('resources/read', { uri: 'note:///77' })
  await request('prompts/get', { name: 'greeting', arguments: { name: 'Ada' } })
  const common = { principal: 'ada', transport: 'websocket', revision: '2025-06-18', ms: Number }
  t.match(await lines(), [
    { ...common, method: 'tools/call', tool: 'calculate', outcome: 'ok' },
    { ...common, method: 'resources/read', resource: 'note:///{id}', outcome: 'error', code: -32002 },
    { ...common, method: 'prompts/get', prompt: 'greeting' }
  ])
})

t.test('what the mixin of a host\'s logger says of the trace stays, where the gateway has no span', async t => {
  const lines: Line[] = []
  const ids = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }
  const loggerInstance = pino({ mixin: () => ({ ...ids }) }, { write: line => lines.push(JSON.parse(line) as Line) })
  const app = await gateway(t, { http: false }, { loggerInstance })
  await (await createClient(app)).request('tools/list')
  t.match(lines.find(({ audit }) => audit?.method === 'tools/list'), ids)
})

t.test('the outcome distinguishes failures, errors, refusals and cancellations', async t => {
  const { app, lines, audited: audit } = await audited(t)
  const ada = client(app.mcp.dispatcher, { identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  await ada.request('tools/call', { name: 'declines' })
  const broken = await ada.request('tools/call', { name: 'breaks' }) as { error: { data: { correlation: string } } }
  await ada.request('tools/call', { name: 'guarded' })
  await ada.request('tools/call', { name: 'nobody knows' })
  await ada.request('no/such/method')
  const id = ada.ask('tools/call', { name: 'long_running_task', arguments: { steps: 60, delay: 1 } })
  ada.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } })
  t.match(await audit(), [
    { tool: 'declines', outcome: 'failed' },
    { tool: 'breaks', outcome: 'error', code: -32603, correlation: broken.error.data.correlation },
    { tool: 'guarded', outcome: 'denied', code: -32602 },
    { method: 'tools/call', outcome: 'error', code: -32602 },
    { outcome: 'error', code: -32601 },
    { tool: 'long_running_task', outcome: 'cancelled' }
  ])
  t.match(
    lines.find(({ level }) => level === 50),
    { correlation: broken.error.data.correlation },
    'what the client was told leads to the error'
  )
})

t.test('a name of the wrong type is refused with a message, and is a line like any other', async t => {
  const { app, audited: lines } = await audited(t)
  const { request } = client(app.mcp.dispatcher, { identity: { principal: 'ada', scopes: new Set(['mcp']) } })
  const odd = { toString: 1, valueOf: 1 }
  for (const [method, params] of Object.entries({
    'tools/call': { name: odd },
    'resources/read': { uri: odd },
    'resources/subscribe': { uri: odd },
    'prompts/get': { name: odd },
    'completion/complete': { ref: { type: 'ref/prompt', name: odd }, argument: { name: 'a', value: '' } }
  })) t.match(await request(method, params), { error: { code: -32602 } }, method)
  t.equal((await lines()).length, 5)
})

t.test('the line of a call for a tool or prompt that does not exist names it, cut and on one line', async t => {
  const { app, audited: lines } = await audited(t)
  const { request } = client(app.mcp.dispatcher)
  await request('tools/call', { name: 'calculat', arguments: { secret: 'hidden' } })
  await request('prompts/get', { name: 'greting' })
  await request('tools/call', { name: `a\n${'x'.repeat(1_000)}` })
  await request('tools/call', { name: 'calculate', arguments: {} })
  await request('resources/read', { uri: 'nowhere://x' })
  const [called, got, long, wrong, read] = await lines()
  t.match(called, { method: 'tools/call', tool: undefined, unknown: 'calculat', outcome: 'error', code: -32602 })
  t.match(got, { method: 'prompts/get', prompt: undefined, unknown: 'greting' })
  t.match(String(long?.['unknown']), /^a.x{20,64}/)
  t.notMatch(String(long?.['unknown']), '\n')
  t.ok(String(long?.['unknown']).length <= 65)
  t.match(wrong, { tool: 'calculate', unknown: undefined }, 'one that exists')
  t.equal(read?.['unknown'], undefined, 'a URI can have anything in it')
})

t.test('a call whose state or answers are refused is a line like any other', async t => {
  const { app, audited: lines } = await audited(t)
  const { request } = client(app.mcp.dispatcher, { revision: revision('2026-07-28') })
  t.match(await request('tools/call', { name: 'calculate', requestState: 'forged', _meta: modernMeta() }), {
    error: { code: -32602, message: /requestState/ }
  })
  t.match(await request('tools/call', { name: 'calculate', inputResponses: 7, _meta: modernMeta() }), {
    error: { code: -32602 }
  })
  t.match(await lines(), [
    { tool: 'calculate', outcome: 'error', code: -32602 },
    { tool: 'calculate', outcome: 'error', code: -32602 }
  ])
})

t.test('the client is named as it names itself, but not at any length', async t => {
  const { app, audited: lines } = await audited(t)
  await createClient(app)
  const { peer, request } = client(app.mcp.dispatcher)
  peer.client = { name: 'n'.repeat(1_000), version: '1' }
  await request('ping')
  t.equal((await lines())[0]?.['client'], 'in-process/1.0.0')
  t.equal((await lines()).at(-1)?.['client'], 'n'.repeat(64))
})

t.test('with audit: false no line is written', async t => {
  const { app, lines } = await audited(t, { audit: false })
  await client(app.mcp.dispatcher).request('ping')
  t.strictSame(lines, [])
})

const CANARY = 'cAnArY-5c1f'

t.test('neither arguments nor results of a call reach the log', async t => {
  const secretive = tool({
    name: 'secretive',
    description: 'Answers in secret',
    input: Type.Object({ of: Type.String() }),
    run: () => ({ secret: `${CANARY}-out` })
  })
  const { app, lines } = await audited(t, { plugins: [async app => { app.mcp.tools.add(secretive) }] })
  const { send, request, channel } = client(app.mcp.dispatcher, { identity: { principal: 'ada', scopes: 'all' } })
  await request('tools/call', { name: 'secretive', arguments: { of: CANARY }, _meta: { progressToken: CANARY } })
  await request('tools/call', { name: 'secretive', arguments: { wrong: CANARY } })
  await request('tools/call', { name: 'add_note', arguments: { content: CANARY, tags: [CANARY] } })
  await request('tools/call', { name: 'unheard_of', arguments: { of: CANARY } })
  await request('resources/read', { uri: `note:///${CANARY}` })
  await request('resources/subscribe', { uri: `${CANARY}://x` })
  await request('prompts/get', { name: 'greeting', arguments: { name: CANARY } })
  await request('completion/complete', {
    ref: { type: 'ref/prompt', name: CANARY },
    argument: { name: CANARY, value: CANARY }
  })
  await request('tools/list', { cursor: CANARY })
  await request(CANARY, { [CANARY]: CANARY })
  send({ jsonrpc: '2.0', id: CANARY, method: 'ping', params: {} })
  send(`{"${CANARY}`)
  send({ jsonrpc: '2.0', method: `notifications/${CANARY}`, params: { a: CANARY } })
  await channel.until(() => channel.sent.length >= 12)
  await app.close()
  t.ok(lines.length >= 11, `${lines.length} lines`)
  t.notOk(JSON.stringify(lines).includes(CANARY))
})

t.test('a request that is not let in is a line, too, without its query and its headers', async t => {
  const { loggerInstance, lines, audited } = logging()
  const { app, url } = await listening(t, {}, { loggerInstance })
  await app.inject({
    url: `/health?token=${CANARY}`,
    headers: { origin: 'http://evil.example', authorization: `Bearer ${CANARY}`, cookie: CANARY }
  })
  await once(
    new WebSocket(`${url.replace('http', 'ws')}/mcp?token=${CANARY}`, { headers: { origin: 'http://evil.example' } }),
    'error'
  )
  t.match(audited(), [
    { outcome: 'refused', status: 403, transport: 'http', method: 'GET', route: '/health', address: '127.0.0.1' },
    { outcome: 'refused', status: 403, transport: 'websocket', route: '/mcp' }
  ])
  t.notOk(JSON.stringify(lines).includes(CANARY))
})

t.test('a route has one form in the log, with and without a slash at the end of the path', async t => {
  const { loggerInstance, audited } = logging()
  const app = await gateway(t, {}, { loggerInstance })
  for (const url of ['/mcp', '/mcp/', '/message', '/message/', '/']) {
    await app.inject({ method: 'POST', url, headers: { origin: 'http://evil.example' } })
  }
  t.strictSame(audited().map(({ route }) => route), ['/mcp', '/mcp', '/message', '/message', undefined])
})

t.test('in a host application the lines go to the log of the host', async t => {
  const { loggerInstance, audited } = logging()
  const app = await host(t, () => {}, {}, { loggerInstance })
  await app.inject(asJson)
  await app.inject({ ...asJson, headers: { ...asJson.headers, origin: 'http://evil.example' } })
  await app.close()
  t.match(audited(), [
    { tool: 'echo', outcome: 'ok', transport: 'http' },
    { outcome: 'refused', status: 403, route: '/ai/mcp' }
  ])
})

t.test('a successful stdio call is logged at debug, a denied call at warn, all others at info', async t => {
  for (const level of ['info', 'debug']) {
    const { loggerInstance, lines } = logging(level)
    const app = await gateway(
      t,
      {
        http: false,
        plugins: [
          async (app: FastifyInstance) => {
            for (const item of UNHAPPY) app.mcp.tools.add(item)
          }
        ]
      },
      { loggerInstance }
    )
    for (const transport of ['stdio', 'http', 'websocket'] as const) {
      const { request } = client(app.mcp.dispatcher, { transport })
      await request('ping')
      await request('tools/call', { name: 'declines' })
      await request('tools/call', { name: 'breaks' })
    }
    await app.close()
    const logged = lines.flatMap(({ level, audit }) =>
      audit === undefined ? [] : [[level, audit['transport'], audit['outcome']]]
    )
    const all = [
      [20, 'stdio', 'ok'],
      [30, 'stdio', 'failed'],
      [30, 'stdio', 'error'],
      ...['http', 'websocket'].flatMap(transport => [
        [30, transport, 'ok'],
        [30, transport, 'failed'],
        [30, transport, 'error']
      ])
    ]
    t.strictSame(logged, level === 'debug' ? all : all.slice(1), level)
  }
})

const isAudit = (what: unknown): boolean => typeof what === 'object' && what !== null && 'audit' in what

/** A logger with nothing but what Fastify asks of one, and the calls it has logged. */
function plain (more: object = {}) {
  const logged: unknown[] = []
  const say = () => {}
  const logger: FastifyBaseLogger = {
    level: 'info',
    fatal: say,
    error: say,
    warn: say,
    debug: say,
    trace: say,
    silent: say,
    info: (...args: unknown[]) => {
      if (isAudit(args[0])) logged.push(args[0])
    },
    child: () => logger,
    ...more
  }
  return { logger, logged }
}

const AUDITED = { audit: { tool: 'echo', outcome: 'ok', transport: 'http', method: 'tools/call', ms: Number } }

t.test('a logger without a check of its level gets a line for every call', async t => {
  const { logger, logged } = plain()
  const app = await host(t, () => {}, {}, { loggerInstance: logger })
  for (let call = 0; call < 3; call++) await app.inject(asJson)
  await app.close()
  t.match(logged, [AUDITED, AUDITED, AUDITED])
  t.equal(logged.length, 3)
})

t.test('a logger with the level off gets no line, and the next one when it is on', async t => {
  let enabled = false
  const { logger, logged } = plain({ isLevelEnabled: (level: string) => level === 'info' && enabled })
  const app = await host(t, () => {}, {}, { loggerInstance: logger })
  await app.inject(asJson)
  enabled = true
  await app.inject(asJson)
  await app.close()
  t.match(logged, [AUDITED])
  t.equal(logged.length, 1)
})

t.test('a logger that throws costs no answer', async t => {
  const { logger } = plain({ info: (what: unknown) => { if (isAudit(what)) throw new Error('the disk is full') } })
  const app = await host(t, () => {}, {}, { loggerInstance: logger })
  for (let call = 0; call < 3; call++) t.equal((await app.inject(asJson)).statusCode, 200)
  await app.close()
})

t.test('a host whose logger has a level or a method of that name gets its lines as any other', async t => {
  const lines: Line[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(JSON.parse(String(chunk)) as Line)
      done()
    }
  })
  const other: unknown[] = []
  const { logger, logged } = plain({ audit: (...args: unknown[]) => { other.push(args) } })
  for (const loggerInstance of [pino({ customLevels: { audit: 35 } }, out), logger]) {
    const app = await host(t, () => {}, {}, { loggerInstance })
    await app.inject(asJson)
    await app.close()
  }
  t.match(
    lines.filter(({ audit }) => audit !== undefined),
    [{ level: 30, msg: /^tools\/call echo ok \d+\.\d ms \(http\)$/, ...AUDITED }]
  )
  t.match(logged, [AUDITED])
  t.strictSame(other, [], 'what it is for is not ours to know')
})
