import t from 'tap'
import { McpError } from '../../../app.js'
import type { Call } from '../../../protocol/dispatch/call.js'
import { Peer } from '../../../protocol/peer/peer.js'
import type { Transport } from '../../../protocol/peer/peer-options.js'
import type { Identity } from '../../../protocol/wire/identity.js'
import type { Connection } from '../../../upstreams/ports.js'
import { clientOf } from '../../../upstreams/relay/client-of.js'
import { gateway } from '../../support/gateway.js'
import { revision } from '../../support/recorder.js'
import { turnable } from '../../support/clocks.js'
import { ERAS } from '../../support/speaker.js'
import { bestTime } from '../../support/timing.js'
import { addUpstream } from './fake-upstream.js'
import { EVERYTHING, RelayClient } from './relay-client.js'

const LEGACY = '2025-11-25'
const MODERN = '2026-07-28'
const RESULT = {
  content: [
    { type: 'text', text: 'done' },
    { type: 'hologram', depth: 3 }
  ],
  _meta: { 'vendor/key': 1 },
  more: true
}

for (const version of ERAS) {
  for (const era of [LEGACY, MODERN]) {
    t.test(`a client of ${version} gets the result of an upstream of ${era} as it is`, async t => {
      const app = await gateway(t)
      const { connection } = addUpstream(app, era)
      const client = new RelayClient(app, version)
      const { answer } = client.call({ a: [1, { b: null }] })
      const { method, params, resolve } = await connection.arrived.next()
      t.equal(method, 'tools/call')
      t.strictSame(params, { name: 'tool', arguments: { a: [1, { b: null }] } })
      resolve({ ...RESULT, ...(era === MODERN ? { resultType: 'complete' } : {}) })
      t.match((await answer).result, {
        content: [{ text: 'done' }, { type: 'hologram', depth: 3 }],
        _meta: { 'vendor/key': 1 },
        more: true
      })
    })
  }
}

t.test('keys of _meta that belong to the hop of the client do not reach the upstream, others do', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  const client = new RelayClient(app, MODERN)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  client.call(
    {},
    {
      meta: {
        progressToken: 'mine',
        'io.modelcontextprotocol/logLevel': 'info',
        'io.modelcontextprotocol/other': 1,
        'vendor/key': { deep: true },
        traceparent
      }
    }
  )
  const { params, wantsProgress, logLevel } = await connection.arrived.next()
  t.strictSame(params._meta, { 'vendor/key': { deep: true }, traceparent })
  t.equal(wantsProgress, true)
  t.equal(logLevel, 'info')
})

t.test('an upstream is asked for neither progress nor log messages that the client does not want', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  new RelayClient(app, MODERN).call()
  const { wantsProgress, logLevel } = await connection.arrived.next()
  t.equal(wantsProgress, false)
  t.equal(logLevel, undefined)
})

t.test('an upstream hears of what the client can be asked, that it shows apps, and of nothing else', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  const declared = {
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, context: {}, odd: {} },
    roots: { listChanged: true },
    experimental: { x: {} },
    extensions: { 'a/b': {} }
  }
  const full = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }
  const expected = {
    '2024-11-05': { sampling: { context: {} }, roots: {} },
    '2025-03-26': { sampling: { context: {} }, roots: {} },
    '2025-06-18': { elicitation: { form: {} }, sampling: { context: {} }, roots: {} },
    '2025-11-25': full,
    '2026-07-28': full
  }
  for (const version of ERAS) {
    new RelayClient(app, version, { capabilities: declared }).call()
    t.strictSame((await connection.arrived.next()).capabilities, expected[version], version)
  }
  const apps = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [] } } }
  for (const capabilities of [{}, { elicitation: {} }, { elicitation: { url: {} } }, { roots: {} }, apps]) {
    new RelayClient(app, MODERN, { capabilities }).call()
    t.strictSame((await connection.arrived.next()).capabilities, capabilities)
  }
  new RelayClient(app, '2025-06-18', { capabilities: { elicitation: { url: {} } } }).call()
  t.strictSame((await connection.arrived.next()).capabilities, {}, 'pages only, in a revision without pages')
})

t.test('an upstream hears of no capability where the client has no stream to be asked on', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  new RelayClient(app, LEGACY, { streams: false }).call()
  const { capabilities, logLevel } = await connection.arrived.next()
  t.strictSame(capabilities, {})
  t.equal(logLevel, undefined)
})

for (const version of ERAS) {
  t.test(`progress reaches a client of ${version} under its own token, with what its revision knows`, async t => {
    const app = await gateway(t)
    const { connection } = addUpstream(app, LEGACY)
    const client = new RelayClient(app, version)
    const { answer } = client.call({}, { meta: { progressToken: 'mine' } })
    const { call, resolve } = await connection.arrived.next()
    call.progress({ progressToken: 1, progress: 1, total: 3, message: 'first' })
    call.progress({ progressToken: 1, progress: 1, total: 3, message: 'does not grow' })
    call.progress({ progressToken: 1, progress: 'odd' })
    call.progress({ progressToken: 1, progress: 2.5 })
    resolve(RESULT)
    await answer
    call.progress({ progressToken: 1, progress: 3 })
    const message = version === '2024-11-05' ? {} : { message: 'first' }
    t.strictSame(
      client.notifications.take().map(({ params }) => params),
      [
        { progressToken: 'mine', progress: 1, total: 3, ...message },
        { progressToken: 'mine', progress: 2.5 }
      ]
    )
  })
}

t.test('log messages reach the client at the level it wants', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  const client = new RelayClient(app, MODERN)
  const { answer } = client.call({}, { meta: { 'io.modelcontextprotocol/logLevel': 'warning' } })
  const { call, resolve } = await connection.arrived.next()
  for (const level of ['debug', 'warning', 'nonsense', 'emergency']) {
    call.log({ level, logger: 'it', data: { level }, extra: 1, _meta: { 'io.modelcontextprotocol/x': 1, mine: 2 } })
  }
  resolve(RESULT)
  await answer
  t.strictSame(
    client.notifications.take(),
    ['warning', 'emergency'].map(level => ({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level, logger: 'it', data: { level }, extra: 1, _meta: { mine: 2 } }
    }))
  )
})

for (const version of [LEGACY, MODERN]) {
  for (const era of [LEGACY, MODERN]) {
    t.test(
      `a cancelled call of ${version} is cancelled at an upstream of ${era} at once, and others are not`,
      async t => {
        const app = await gateway(t)
        const { connection } = addUpstream(app, era)
        const client = new RelayClient(app, version)
        const other = client.call({ other: true })
        const { resolve } = await connection.arrived.next()
        const took = await bestTime(100, async () => {
          const { id } = client.call({ cancelled: true })
          await connection.arrived.next()
          const cancelledAt = performance.now()
          client.cancel(id)
          t.match(await connection.cancelled.next(), { params: { arguments: { cancelled: true } } })
          return performance.now() - cancelledAt
        })
        t.ok(took < 100, `${took} ms`)
        resolve(RESULT)
        t.match(await other.answer, { result: { more: true } })
        t.equal(connection.cancelled.size, 0)
      }
    )
  }
}

t.test('a call that is cancelled while the upstream is starting is never sent', async t => {
  const app = await gateway(t)
  let open = (_connection: Connection): void => {}
  let wanted: (call: Call) => void = () => {}
  const calls = new Promise<Call>(resolve => { wanted = resolve })
  const { connection } = addUpstream(app, LEGACY, {
    connectionFor: async call => {
      wanted(call)
      return await new Promise(resolve => { open = resolve })
    }
  })
  const client = new RelayClient(app, LEGACY)
  const { id } = client.call()
  const { signal } = await calls
  client.cancel(id)
  t.equal(signal.aborted, true)
  open(connection)
  await new Promise(setImmediate)
  t.equal(connection.arrived.size, 0)
})

t.test('a client that disconnects cancels its calls', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, LEGACY)
  const client = new RelayClient(app, LEGACY)
  client.call()
  await connection.arrived.next()
  client.close()
  await connection.cancelled.next()
})

for (const version of ERAS) {
  t.test(`errors of an upstream stay errors for a client of ${version}`, async t => {
    const app = await gateway(t)
    const { connection } = addUpstream(app, LEGACY)
    const client = new RelayClient(app, version)
    for (const code of [-32602, -32603, -32601, -32000, 1234]) {
      const { answer } = client.call()
      const { reject } = await connection.arrived.next()
      reject(new McpError(code, 'its own words', { its: ['own', 'data'] }))
      t.match(await answer, { error: { code, message: 'its own words', data: { its: ['own', 'data'] } } }, String(code))
    }
    const { answer } = client.call()
    const { reject } = await connection.arrived.next()
    reject(new McpError(-32002, 'not found'))
    t.equal((await answer).error.code, version === MODERN ? -32602 : -32002)
  })
}

t.test('the error of an upstream says nothing about the HTTP request, except for a missing capability', async t => {
  const app = await gateway(t)
  const { connection } = addUpstream(app, MODERN)
  for (const [code, status] of [[-32601, 200], [-32600, 200], [-32700, 200], [-32021, 400]] as const) {
    const reply = app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'files__tool' },
      payload: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'files__tool',
          _meta: {
            'io.modelcontextprotocol/protocolVersion': MODERN,
            'io.modelcontextprotocol/clientCapabilities': EVERYTHING
          }
        }
      }
    })
    void reply.then(() => {})
    const { reject } = await connection.arrived.next()
    reject(new McpError(code, 'its own words', { requiredCapabilities: {} }))
    const { statusCode, body } = await reply
    t.equal(statusCode, status, String(code))
    t.match(JSON.parse(body), { error: { code, message: 'its own words' } })
  }
})

t.test(
  'a call is given up after the timeout of its upstream, in words that name it, and is cancelled there',
  async t => {
    const app = await gateway(t)
    const { connection } = addUpstream(app, LEGACY, { timeout: 500 })
    const { answer } = new RelayClient(app, LEGACY).call()
    t.match(await answer, {
      error: {
        code: -32603,
        message: /given up after \d+ ms without an answer of the upstream server files/,
        data: { upstream: 'files' }
      }
    })
    await connection.cancelled.next()
  }
)

t.test('progress extends the time of a call by the timeout of its upstream, but not beyond callTimeoutMax', async t => {
  const clock = turnable(t)
  const app = await gateway(t, { callTimeout: 1_000, callTimeoutMax: 60_000 })
  let relayed: Call | undefined
  const { connection } = addUpstream(app, LEGACY, {
    timeout: 25_000,
    connectionFor: async call => {
      relayed = call
      return connection
    }
  })
  const { answer } = new RelayClient(app, LEGACY).call({}, { meta: { progressToken: 1 } })
  const { call, resolve } = await connection.arrived.next()
  const { startedAt, deadline } = relayed?.response ?? {}
  const due = (): number => Math.round(((deadline?.dueAt ?? 0) - (startedAt ?? 0)) / 1_000)
  t.equal(due(), 25)
  clock.later = 20_000
  call.progress({ progressToken: 1, progress: 1 })
  t.equal(due(), 45)
  clock.later = 40_000
  call.progress({ progressToken: 1, progress: 2 })
  t.equal(due(), 60)
  resolve(RESULT)
  t.match(await answer, { result: { more: true } })
})

t.test('stateless HTTP requests of one caller have one client, those of others have others', async t => {
  const of = (
    version: string,
    identity: Identity,
    forwarded = false,
    transport: Transport = 'http',
    connection: object = socket
  ) => clientOf({ peer: new Peer({ transport, connection }), identity, revision: revision(version), forwarded })
  const socket = {}
  const ada: Identity = { principal: 'ada', scopes: 'all' }
  const here: Identity = { principal: undefined, scopes: 'all', address: '127.0.0.1' }
  const elsewhere: Identity = { principal: undefined, scopes: 'all', address: '192.0.2.1' }
  t.equal(of(MODERN, ada), of(MODERN, { ...ada }))
  t.not(of(MODERN, ada), of(MODERN, { ...ada, principal: 'ben' }))
  t.equal(of(MODERN, here), of(MODERN, here), 'one connection of an anonymous caller')
  t.not(of(MODERN, here), of(MODERN, here, false, 'http', {}), 'two connections of anonymous callers')
  t.equal(of(MODERN, ada), of(MODERN, ada, false, 'http', {}), 'two connections of one principal')
  t.not(of(MODERN, here), of(MODERN, { ...ada, principal: 'this machine' }))
  t.not(of(MODERN, here, true), of(MODERN, here, true), 'behind a proxy')
  t.not(of(MODERN, elsewhere), of(MODERN, elsewhere), 'another machine')
  t.not(of(LEGACY, ada), of(LEGACY, ada), 'sessions')
  t.not(of(MODERN, ada, false, 'websocket'), of(MODERN, ada, false, 'websocket'), 'connections')
})
