import { EventEmitter, once } from 'node:events'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createClient, resource, tool, type Options } from '../../app.js'
import { until } from '../support/wait.js'
import { call, callTool, initialize, modernMeta, notification } from '../support/messages.js'
import { startServer, type Server } from '../support/server.js'
import { socketConnection, sseConnection, stdioConnection, type Connection } from '../support/connections.js'

type Json = Record<string, unknown>

const TRANSPORTS: Record<string, (server: Server) => Promise<Connection>> = {
  stdio: stdioConnection,
  WebSocket: socketConnection,
  'HTTP+SSE': sseConnection
}

/** A server with a resource that is watched, and tools that notify, wait and ask when the test calls for it. */
async function setUp (t: Test, options: Partial<Options> = {}) {
  const watched = { begun: 0, ended: 0 }
  const signals = new EventEmitter().setMaxListeners(0)
  const plugin = async ({ mcp: { tools, resources } }: FastifyInstance): Promise<void> => {
    resources.add(
      resource({
        uri: 'test://watched',
        name: 'watched',
        read: () => 'x',
        watch: async () => {
          watched.begun++
          return () => {
            watched.ended++
          }
        }
      })
    )
    tools.add(
      tool({
        name: 'murmur',
        description: 'd',
        run: (_input, call) => {
          call.log('info', 'psst')
          return 'murmured'
        }
      })
    )
    tools.add(tool({
      name: 'ask_later',
      description: 'd',
      run: async (_input, call) => {
        await once(signals, 'ask', { signal: call.signal })
        return await call.roots()
      }
    }))
    tools.add(tool({
      name: 'wait',
      description: 'd',
      input: Type.Object({}),
      output: Type.Object({ said: Type.String() }),
      run: async (_input, call) => {
        await once(signals, 'go', { signal: call.signal })
        return { said: 'gone' }
      }
    }))
  }
  const server = await startServer(t, { plugins: [plugin], ...options })
  return { server, watched, signals, updated: () => server.app.mcp.resources.updated('test://watched') }
}

async function ask (connection: Connection, text: string): Promise<Json> {
  await connection.write(text)
  return await connection.inbox.next() as Json
}

const subscribe = call('resources/subscribe', { uri: 'test://watched' }, 'sub')('legacy')
const setLevel = call('logging/setLevel', { level: 'debug' }, 'level')('legacy')
const tools = (name: string, id: unknown = 1) => callTool(name, {}, id)('legacy')

for (const [name, open] of Object.entries(TRANSPORTS)) {
  t.test(`${name}: a second initialize opens the conversation anew`, async t => {
    const { server, watched, updated } = await setUp(t)
    const connection = await open(server)
    await ask(connection, initialize('2025-06-18', { roots: {} }))
    await ask(connection, setLevel)
    await ask(connection, subscribe)
    t.match(await ask(connection, tools('murmur')), { method: 'notifications/message', params: { data: 'psst' } })
    await connection.inbox.next()

    t.match(await ask(connection, initialize('2025-03-26')), { id: 0, result: { protocolVersion: '2025-03-26' } })
    updated()
    t.match(
      await ask(connection, tools('murmur')),
      { id: 1, result: { content: [{ text: 'murmured' }] } },
      'the log level is the default, and no update precedes the answer'
    )
    t.match(watched, { begun: 1, ended: 1 }, 'nothing is watched for it any more')
    t.match(
      await ask(connection, tools('ask_roots')),
      { error: { message: /did not declare the capability/ } },
      'what it can do is what it says now'
    )
    t.match(await ask(connection, tools('echo')), { error: { code: -32602 } }, 'answers are those of the new revision')
    await ask(connection, subscribe)
    updated()
    t.match(await connection.inbox.next(), { method: 'notifications/resources/updated' }, 'it can subscribe again')
    await connection.close()
  })

  t.test(`${name}: one that is refused leaves the conversation as it was`, async t => {
    const { server, watched, updated } = await setUp(t)
    const connection = await open(server)
    await ask(connection, initialize('2025-03-26', { roots: {} }))
    await ask(connection, setLevel)
    await ask(connection, subscribe)
    for (const params of [
      { capabilities: 'all' },
      { clientInfo: [] },
      { protocolVersion: 5 },
      { capabilities: { x: 'y'.repeat(1_000_000) } }
    ]) {
      t.match(await ask(connection, call('initialize', params)('legacy')), { error: { code: -32602 } })
    }
    t.match(await ask(connection, call('initialize', { _meta: modernMeta() })('modern')), { error: { code: -32601 } })
    updated()
    t.match(await connection.inbox.next(), { method: 'notifications/resources/updated' })
    t.match(await ask(connection, tools('murmur')), { method: 'notifications/message' })
    await connection.inbox.next()
    t.match(await ask(connection, tools('ask_roots')), { method: 'roots/list' })
    t.equal(watched.ended, 0)
    await connection.close()
  })

  t.test(`${name}: calls in flight end as they would, in the revision they were asked in`, async t => {
    const { server, signals } = await setUp(t)
    const connection = await open(server)
    await ask(connection, initialize('2025-06-18'))
    await connection.write(tools('wait', 'old'))
    await until(() => signals.listenerCount('go') === 1, 'the call')
    await ask(connection, initialize('2024-11-05'))
    await connection.write(tools('wait', 'new'))
    await until(() => signals.listenerCount('go') === 2, 'the other call')
    t.match(await ask(connection, tools('wait', 'old')), {
      id: 'old',
      error: { code: -32600, message: /still being answered/ }
    })
    signals.emit('go')
    const answers = [await connection.inbox.next(), await connection.inbox.next()] as Array<{
      id: string
      result: Json
    }>
    t.match(answers.find(({ id }) => id === 'old'), { result: { structuredContent: { said: 'gone' } } })
    t.notOk('structuredContent' in (answers.find(({ id }) => id === 'new')?.result ?? {}))
    await connection.close()
  })

  t.test(`${name}: the next client cannot answer requests from before, and calls from before ask nothing`, async t => {
    const { server, signals } = await setUp(t)
    const connection = await open(server)
    await ask(connection, initialize('2025-06-18', { roots: {} }))
    const question = await ask(connection, tools('ask_roots', 'asked'))
    await connection.write(tools('ask_later', 'later'))
    await until(() => signals.listenerCount('ask') === 1, 'the call')
    await connection.write(initialize('2025-06-18', { roots: {} }))
    const again = [await connection.inbox.next(), await connection.inbox.next()] as Array<{ id: unknown }>
    t.match(
      again.find(({ id }) => id === 'asked'),
      {
        error: {
          code: -32603,
          message: 'The client cannot be asked for roots/list: it has sent initialize again since this request'
        }
      }
    )
    await connection.write(JSON.stringify({ jsonrpc: '2.0', id: question.id, result: { roots: [] } }))
    signals.emit('ask')
    t.match(await connection.inbox.next(), {
      id: 'later',
      error: {
        code: -32603,
        message: 'The client cannot be asked for roots/list: it has sent initialize again since this request'
      }
    })
    const next = await ask(connection, tools('ask_roots', 'asked'))
    t.not(next.id, question.id, 'ids of questions are not used again')
    await connection.close()
  })

  t.test(`${name}: what follows a handshake that has to wait comes after it`, async t => {
    const { server } = await setUp(t)
    server.app.mcp.use(async (_call, next) => {
      await new Promise(resolve => setImmediate(resolve))
      return await next()
    })
    const connection = await open(server)
    for (const text of [
      initialize('2025-03-26'),
      notification('notifications/initialized'),
      call('ping', {}, 1)('legacy'),
      initialize('2024-11-05', {}, 2),
      tools('wait', 3)
    ]) {
      await connection.write(text)
    }
    t.match(
      [await connection.inbox.next(), await connection.inbox.next(), await connection.inbox.next()],
      [
        { id: 0, result: { protocolVersion: '2025-03-26' } },
        { id: 1, result: {} },
        { id: 2, result: { protocolVersion: '2024-11-05' } }
      ]
    )
    await connection.close()
  })
}

t.test('only so much waits for a handshake', async t => {
  const { server } = await setUp(t, { limits: { maxInFlight: 64 } })
  const gate = new EventEmitter()
  server.app.mcp.use(async ({ method }, next) => { if (method === 'initialize') await once(gate, 'open'); return await next() })
  const connection = await stdioConnection(server)
  await connection.write(initialize())
  for (let id = 1; id <= 65; id++) await connection.write(call('ping', {}, id)('legacy'))
  t.match(await connection.inbox.next(), { id: 65, error: { code: -32600, message: /wait for its answer/ } })
  gate.emit('open')
  for (let id = 0; id <= 64; id++) t.match(await connection.inbox.next(), { id, result: {} })
  await connection.close()
})

t.test('notifications that wait for a handshake count with their bytes', async t => {
  const { server } = await setUp(t)
  const gate = new EventEmitter()
  server.app.mcp.use(async ({ method }, next) => {
    if (method === 'initialize') await once(gate, 'open')
    return await next()
  })
  const connection = await stdioConnection(server)
  await connection.write(initialize())
  for (let sent = 0; sent < 3; sent++) {
    await connection.write(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/initialized',
        params: { _meta: { text: 'x'.repeat(600_000) } }
      })
    )
  }
  await connection.write(call('ping', {}, 1)('legacy'))
  await connection.write(call('tools/list', { _meta: { text: 'x'.repeat(600_000) } }, 2)('legacy'))
  t.match(await connection.inbox.next(), { id: 2, error: { code: -32600, message: /wait for its answer/ } })
  gate.emit('open')
  for (const id of [0, 1]) t.match(await connection.inbox.next(), { id, result: {} })
  await connection.close()
})

t.test('where each call is counted exactly, a hundred may follow a handshake at once', async t => {
  const { server } = await setUp(t, { rate: 1_000, burst: 2_000 })
  const connection = await stdioConnection(server)
  await connection.write(
    [initialize(), ...Array.from({ length: 100 }, (_nothing, index) => call('ping', {}, index + 1)('legacy'))].join(
      '\n'
    )
  )
  for (let id = 0; id <= 100; id++) t.match(await connection.inbox.next(), { id, result: {} })
  await connection.close()
})

t.test('in one process: a client may shake hands again', async t => {
  const { server: { app }, watched } = await setUp(t)
  const client = await createClient(app, { protocolVersion: '2025-06-18' })
  await client.request('resources/subscribe', { uri: 'test://watched' })
  t.match(await client.request('initialize', { protocolVersion: '2025-03-26' }), { protocolVersion: '2025-03-26' })
  t.match(watched, { begun: 1, ended: 1 })
  client.close()
})
