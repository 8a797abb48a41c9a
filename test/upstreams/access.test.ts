import type { FastifyInstance } from 'fastify'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { Options } from '../../app.js'
import { gateway } from '../support/gateway.js'
import { ADA, BOB, bearer, listed } from '../support/keys.js'
import type { Json } from '../support/specification/message.js'
import { newestLegacy } from '../support/specification/revisions.js'
import { until } from '../support/wait.js'
import { openFixture } from './fixture/open.js'

/** Bob has the scope of the vault, Ada has not. */
const apiKeys = [listed('ada', ADA, ['mcp']), listed('bob', BOB, ['mcp', 'vault'])]

type Headers = Record<string, string>

interface Setting {
  app: FastifyInstance
  audit: Json[]
  ask: (key: string, method: string, params?: Json, path?: string, more?: Headers) => Promise<Json & { status: number }>
}

/** A gateway in front of two servers: one for all, and one that needs a scope. */
async function start (t: Test, options: Partial<Options> = {}): Promise<Setting> {
  const audit: Json[] = []
  const out = new Writable({
    write: (chunk, _encoding, done) => {
      audit.push(JSON.parse(String(chunk)) as Json)
      done()
    }
  })
  const [open, vault] = [
    await openFixture(t, 'stdio', newestLegacy, 'open'),
    await openFixture(t, 'stdio', newestLegacy, 'vault')
  ]
  const app = await gateway(
    t,
    { apiKeys, mcpServers: { open: open.entry, vault: { ...vault.entry, scopes: ['vault'] } }, ...options },
    { loggerInstance: pino({ level: 'info' }, out) }
  )
  await until(() => app.mcp.upstreams.status().every(({ state, stale }) => state === 'ready' && !stale), 'both servers')
  return {
    app,
    audit,
    ask: async (key, method, params = {}, path = '/message', more = {}) => {
      const headers = { ...bearer(key), 'mcp-protocol-version': '2025-11-25', ...more }
      const { statusCode: status, body } = await app.inject({
        method: 'POST',
        url: path,
        headers,
        payload: { jsonrpc: '2.0', id: 1, method, params }
      })
      return { status, ...JSON.parse(body) as Json }
    }
  }
}

async function keysOf ({ ask }: Setting, key: string, path: string): Promise<string[]> {
  const found: string[] = []
  for (const [method, member] of [
    ['tools/list', 'tools'],
    ['prompts/list', 'prompts'],
    ['resources/list', 'resources'],
    ['resources/templates/list', 'resourceTemplates']
  ] as const) {
    for (let cursor: unknown; ;) {
      const result = (await ask(key, method, cursor === undefined ? {} : { cursor }, path)).result as Record<
        string,
        Json[]
      >
      found.push(...(result[member] ?? []).map(({ name, uri, uriTemplate }) => String(uri ?? uriTemplate ?? name)))
      cursor = result.nextCursor
      if (cursor === undefined) break
    }
  }
  return found
}

t.test('the scopes of an entry are needed for everything that its server has', async t => {
  const setting = await start(t)
  const { ask } = setting
  const isOfVault = (name: string): boolean => name.startsWith('vault')
  t.strictSame((await keysOf(setting, ADA, '/message')).filter(isOfVault), [])
  t.ok((await keysOf(setting, BOB, '/message')).filter(isOfVault).length > 10)
  t.strictSame(await keysOf(setting, ADA, '/message/vault'), [])
  t.ok((await keysOf(setting, BOB, '/message/vault')).includes('echo'))

  const requests: Array<[method: string, params: Json, path?: string]> = [
    ['tools/call', { name: 'vault__echo', arguments: { text: 'hi' } }],
    ['tools/call', { name: 'echo', arguments: { text: 'hi' } }, '/message/vault'],
    ['prompts/get', { name: 'vault__introduce', arguments: { who: 'Ada' } }],
    ['prompts/get', { name: 'introduce', arguments: { who: 'Ada' } }, '/message/vault'],
    ...['vault://text', 'vault+vault://text', 'vault://item/1'].map((uri): [string, Json] => [
      'resources/read',
      { uri }
    ]),
    ...['vault://text', 'vault://item/1', 'vault://linked'].map((uri): [string, Json, string] => [
      'resources/read',
      { uri },
      '/message/vault'
    ]),
    [
      'completion/complete',
      { ref: { type: 'ref/prompt', name: 'vault__introduce' }, argument: { name: 'who', value: 'A' } }
    ],
    [
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'vault://item/{id}' }, argument: { name: 'id', value: 'A' } },
      '/message/vault'
    ]
  ]
  for (const [method, params, path] of requests) {
    const what = `${method} ${JSON.stringify(params)} at ${path ?? '/message'}`
    t.match(await ask(ADA, method, params, path), { status: 403, error: {} }, what)
    t.match(await ask(BOB, method, params, path), { status: 200, result: {} }, what)
  }
})

t.test('instructions of a server are for callers who have its scopes', async t => {
  const { ask } = await start(t, { instructions: 'Mind the gap.' })
  const initialize = async (key: string, path?: string) =>
    (
      (
        await ask(
          key,
          'initialize',
          { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
          path
        )
      ).result as Json
    ).instructions
  t.equal(await initialize(ADA), 'Mind the gap.\n\n## open\n\nUse open well.')
  t.equal(await initialize(BOB), 'Mind the gap.\n\n## open\n\nUse open well.\n\n## vault\n\nUse vault well.')
  t.equal(await initialize(ADA, '/message/vault'), undefined)
  t.equal(await initialize(BOB, '/message/vault'), 'Use vault well.')
})

t.test('the operator\'s scopes for alias__tool hold however the tool is called', async t => {
  const setting = await start(t, {
    scopes: { 'tools/open__echo': ['vault'], 'prompts/open__introduce': ['vault'], 'tools/echo': ['admin'] }
  })
  for (const [method, whole, bare, args] of [
    ['tools/call', 'open__echo', 'echo', { text: 'hi' }],
    ['prompts/get', 'open__introduce', 'introduce', { who: 'Ada' }]
  ] as const) {
    t.match(await setting.ask(ADA, method, { name: whole, arguments: args }), { status: 403 })
    t.match(await setting.ask(ADA, method, { name: bare, arguments: args }, '/message/open'), { status: 403 })
    t.match(await setting.ask(BOB, method, { name: whole, arguments: args }), { status: 200, result: {} })
    t.match(await setting.ask(BOB, method, { name: bare, arguments: args }, '/message/open'), {
      status: 200,
      result: {}
    })
  }
  t.notOk((await keysOf(setting, ADA, '/message')).includes('open__echo'))
  t.notOk((await keysOf(setting, ADA, '/message/open')).includes('echo'))
})

t.test('a resource that needs a scope is not read by another spelling of its URI in the view', async t => {
  const { ask } = await start(t, { scopes: { 'resources/open://item/{id}': ['vault'] } })
  for (const uri of ['open://item/1', 'open://item/%zz', 'open://./item/1', 'OPEN://item/1']) {
    t.match(await ask(ADA, 'resources/read', { uri }, '/message/open'), { status: 403 }, uri)
    t.not((await ask(BOB, 'resources/read', { uri }, '/message/open')).status, 403, uri)
  }
  t.match(await ask(ADA, 'resources/read', { uri: 'open://text' }, '/message/open'), { status: 200, result: {} })
  t.match(await ask(ADA, 'resources/read', { uri: 'vault://linked' }, '/message/vault'), { status: 403 })
})

t.test('narrowing unlocks no other spelling of a URI', async t => {
  const views = { both: { servers: ['open', 'vault'] } }
  const { ask } = await start(t, { scopes: { 'resources/open://item/{id}': ['vault'] }, views })
  for (const path of ['/message', '/message/open', '/message/both']) {
    for (const narrowing of [{ 'x-mcp-toolsets': 'open' }, { 'x-mcp-toolsets': 'vault' }, { 'x-mcp-tools': 'echo' }]) {
      for (const uri of ['open://item/1', 'open://item/%zz', 'open://./item/1', 'OPEN://item/1', 'vault://text']) {
        const answer = await ask(ADA, 'resources/read', { uri }, path, narrowing as Headers)
        t.notOk('result' in answer, `${uri} at ${path} with ${JSON.stringify(narrowing)}`)
      }
    }
  }
})

t.test('the rate of a tool counts calls by every name and at every URL', async t => {
  const name = `long_${'x'.repeat(100)}`
  const setting = await start(t)
  const hashed = (await keysOf(setting, BOB, '/message')).find(key => key.startsWith('open__long_')) ?? ''
  setting.app.mcp.rateLimiter.replace({ rate: 1_000, burst: 1_000, toolRates: { [hashed]: 3 } })
  const call = async (called: string, path?: string) =>
    await setting.ask(BOB, 'tools/call', { name: called, arguments: {} }, path)
  t.match(await call(hashed), { result: {} })
  t.match(await call(`open__${name}`), { result: {} }, 'by its full name')
  t.match(await call(name, '/message/open'), { result: {} }, 'in the view')
  for (const [called, path] of [[hashed], [`open__${name}`], [name, '/message/open']] as const) {
    t.match(await call(called, path), { error: { message: /option toolRates/ } })
  }
})

t.test('the audit log names the upstream, and the target by its canonical name', async t => {
  const { ask, audit } = await start(t)
  const last = (): Json => audit.filter(line => 'audit' in line).at(-1) ?? {}
  await ask(ADA, 'tools/call', { name: 'open__echo', arguments: { text: 'hi' } })
  t.match(last(), {
    audit: { tool: 'open__echo', upstream: 'open', outcome: 'ok', principal: 'key:ada' },
    msg: /^tools\/call open__echo at open ok [\d.]+ ms \(ada, http\)$/
  })
  await ask(ADA, 'tools/call', { name: 'echo', arguments: { text: 'hi' } }, '/message/open')
  t.match(last(), { audit: { tool: 'open__echo', upstream: 'open', outcome: 'ok' }, msg: /^tools\/call open__echo at open ok/ })
  await ask(ADA, 'resources/read', { uri: 'open://text' })
  t.match(last(), {
    audit: { resource: 'open://text', upstream: 'open', outcome: 'ok' },
    msg: /^resources\/read open:\/\/text at open ok/
  })
  await ask(ADA, 'tools/call', { name: 'open__refuse', arguments: {} })
  t.match(last(), { audit: { tool: 'open__refuse', upstream: 'open', outcome: 'failed' } })
  await ask(ADA, 'tools/call', { name: 'open__fail', arguments: {} })
  t.match(last(), {
    audit: { tool: 'open__fail', upstream: 'open', outcome: 'error', code: -31_999 },
    msg: /^tools\/call open__fail at open error -31999/
  })
  await ask(ADA, 'tools/call', { name: 'vault__echo', arguments: { text: 'hi' } })
  t.match(last(), { level: 40, audit: { tool: 'vault__echo', upstream: 'vault', outcome: 'denied' } })
  await ask(ADA, 'ping')
  t.notOk('upstream' in (last().audit as Json), 'a call of our own has none')
  t.notOk(JSON.stringify(audit.filter(line => 'audit' in line)).includes('"hi"'), 'arguments are not logged')
})

t.test('names of what upstreams have are known in the options at start, before any server has answered', async t => {
  const { audit } = await start(t, {
    scopes: { 'tools/open__echo': ['vault'], 'resources/open://text': ['vault'], 'tools/opne__echo': ['vault'] },
    toolRates: { open__echo: 5, vault__echo: 5 }
  })
  const warnings = audit.filter(({ level, msg }) => level === 40 && /^option /.test(String(msg))).map(({ msg }) => msg)
  t.equal(warnings.length, 1)
  t.match(warnings[0], /option scopes has "tools\/opne__echo", and there is no such thing here/)
})
