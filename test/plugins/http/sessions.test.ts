import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { build, type Options } from '../../../app.js'
import { host } from '../../support/host.js'
import { freePort } from '../../support/restarting.js'
import fixture, { listening } from '../../support/gateway.js'
import { turnable } from '../../support/clocks.js'
import { takeTime, until } from '../../support/wait.js'
import { dataFolder } from '../../support/environment/on-disk.js'
import { openSession, slow } from '../../support/http-session.js'

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } }
}

/** A host application that trusts the identity that a request names. */
function believing (app: FastifyInstance): void {
  app.decorateRequest('identity')
  app.addHook('onRequest', async request => {
    request.identity = { principal: String(request.headers['x-user']), scopes: 'all' }
  })
}

async function serve (
  t: Test,
  port: number,
  options: Partial<Options>
): Promise<{ app: FastifyInstance, url: string }> {
  const app = await build({
    plugins: [fixture],
    grace: 200,
    ...options,
    limits: { maxEventLoopDelay: 60_000, ...options.limits }
  })
  t.teardown(async () => await app.close())
  return { app, url: await app.listen({ port, host: '127.0.0.1' }) }
}

t.test('sessions outlive a gateway that is closed, and are brought back where they were', async t => {
  const [port, data] = [await freePort(), await dataFolder(t)]
  const first = await serve(t, port, { data })
  const session = await openSession(first.url)
  await first.app.close()
  const second = await serve(t, port, { data })
  await until(() => second.app.mcp.sessions.size === 1)
  t.equal((await session.post({ id: 1, method: 'ping' })).status, 200)
})

t.test('another gateway restores a session when its client sends a request', async t => {
  const data = await dataFolder(t)
  const first = await serve(t, 0, { data })
  const session = await openSession(first.url)
  await first.app.close()
  const second = await serve(t, 0, { data })
  t.equal(second.app.mcp.sessions.size, 0)
  const moved = Object.assign(session, { url: second.url })
  const answers = await Promise.all([1, 2, 3, 4, 5].map(async id => await moved.post({ id, method: 'ping' })))
  t.strictSame(answers.map(({ status }) => status), [200, 200, 200, 200, 200])
  t.equal(second.app.mcp.sessions.size, 1, 'once, however many requests bring it back')
})

t.test('no more sessions are brought back than there may be', async t => {
  const [port, data] = [await freePort(), await dataFolder(t)]
  const first = await serve(t, port, { data })
  for (let count = 0; count < 6; count++) await openSession(first.url)
  await first.app.close()
  const second = await serve(t, port, { data, limits: { maxSessions: 2 } })
  await until(() => second.app.mcp.sessions.size >= 2)
  t.equal(second.app.mcp.sessions.size, 2)
})

t.test('a client is served although nothing can be kept any more', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t), maxData: 150_000 })
  while (app.mcp.store.failure === undefined) {
    await app.mcp.store.values.put('space', String(Math.random()), 'x'.repeat(3_000)).catch(() => {})
  }
  const session = await openSession(url)
  t.match(
    (await session.post({ id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } })).body,
    { result: { structuredContent: { text: 'hello' } } }
  )
  const events = await (await session.stream(slow(2, 2, 1))).rest()
  t.match(
    events
      .map(({ data = '' }) => data)
      .filter(data => data !== '')
      .map(data => JSON.parse(data) as object),
    [{ params: { progress: 1 } }, { params: { progress: 2 } }, { id: 2, result: {} }]
  )
  t.equal(await session.end(), 200)
})

t.test('a session that is idle for too long is forgotten for good', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t), sessionIdle: 1 })
  const session = await openSession(url)
  await until(() => app.mcp.sessions.size === 0)
  await app.mcp.store.sessions.sweep()
  t.equal((await session.post({ id: 1, method: 'ping' })).status, 404)
})

t.test('a session that is being ended is not brought back by what its client sends meanwhile', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t) })
  const { id } = await openSession(url)
  const session = app.mcp.sessions.find(id)
  t.ok(session)
  if (session === undefined) return
  const ended = app.mcp.sessions.end(session, new Error('the client ended the session'))
  await app.mcp.sessions.restore(id)?.catch(() => {})
  await ended
  t.equal(app.mcp.sessions.find(id), undefined)
  t.equal(await app.mcp.store.sessions.load(id), undefined)
})

t.test('abandoned sessions make way for new ones soon, and sessions in use are kept', async t => {
  const { app, url } = await listening(t, { limits: { maxSessions: 3 } })
  const used = await openSession(url)
  await used.post({ id: 1, method: 'ping' })
  const idle = [await openSession(url), await openSession(url)]
  await t.rejects(openSession(url), /503/, 'while they are fresh, nobody can tell')
  const clock = turnable(t)
  clock.later = 11_000
  const fresh = [await openSession(url), await openSession(url)]
  t.equal(app.mcp.sessions.size, 3)
  await t.rejects(openSession(url), /503/, 'now they are fresh again')
  for (const session of [used, ...fresh]) t.equal((await session.post({ id: 2, method: 'ping' })).status, 200)
  for (const session of idle) t.equal((await session.post({ id: 2, method: 'ping' })).status, 404)
  await t.rejects(openSession(url), /503/, 'all are in use')
  t.match(app.mcp.health.now(), { status: 'degraded', parts: { sessions: /maxSessions/ } })
  clock.later = 400_000
  await openSession(url)
  t.equal(app.mcp.sessions.size, 3, 'after some minutes the one that was used last the longest ago makes room')
  t.equal((await used.post({ id: 3, method: 'ping' })).status, 404)
})

t.test('an identified caller has its own limit of sessions', async t => {
  const app = await host(t, believing, { limits: { maxSessionsPerPrincipal: 2 } })
  const open = async (user: string) =>
    await app.inject({ method: 'POST', url: '/ai/mcp', headers: { 'x-user': user }, payload: HELLO })
  const [first] = [await open('ada'), await open('ada')]
  const refused = await open('ada')
  t.match(refused.statusCode, 429)
  t.match(refused.body, /maxSessionsPerPrincipal/)
  t.equal((await open('bob')).statusCode, 200, 'others do not notice')
  const session = { 'mcp-session-id': String(first?.headers['mcp-session-id']) }
  t.equal(
    (await app.inject({ method: 'DELETE', url: '/ai/mcp', headers: { 'x-user': 'bob', ...session } })).statusCode,
    404,
    "another's session is not there"
  )
  t.equal(
    (await app.inject({ method: 'DELETE', url: '/ai/mcp', headers: { 'x-user': 'ada', ...session } })).statusCode,
    200
  )
  t.equal((await open('ada')).statusCode, 200)
})

t.test('a session that was kept is brought back by its own caller only', async t => {
  const data = await dataFolder(t)
  const apps = await Promise.all([1, 2].map(async () => await host(t, believing, { data })))
  const [first, second] = apps as [FastifyInstance, FastifyInstance]
  const opened = await first.inject({ method: 'POST', url: '/ai/mcp', headers: { 'x-user': 'ada' }, payload: HELLO })
  const ping = async (app: FastifyInstance, user: string) =>
    (
      await app.inject({
        method: 'POST',
        url: '/ai/mcp',
        headers: { 'x-user': user, 'mcp-session-id': String(opened.headers['mcp-session-id']) },
        payload: { jsonrpc: '2.0', id: 2, method: 'ping' }
      })
    ).statusCode
  t.equal(await ping(second, 'bob'), 404)
  t.equal(await ping(first, 'ada'), 200, 'and asking for it takes it from nobody')
  t.equal(await ping(second, 'ada'), 200)
})

t.test('a session that is brought back for two reasons at once is brought back once', async t => {
  const [port, data] = [await freePort(), await dataFolder(t)]
  const first = await serve(t, port, { data })
  const ids = await Promise.all(Array.from({ length: 20 }, async () => (await openSession(first.url)).id))
  await first.app.close()
  const { app } = await serve(t, port, { data })
  await Promise.all(ids.map(async id => await app.mcp.sessions.restore(id)))
  await until(() => app.mcp.sessions.size === 20)
  await app.mcp.store.values.put('space', 'after all that was asked for before', true)
  t.strictSame([app.mcp.sessions.size, app.mcp.dispatcher.lifecycle.peers.size], [20, 20], 'each session has one peer')
})

t.test('a request of another caller for a session does not keep its owner from it', async t => {
  const data = await dataFolder(t)
  const first = await serve(t, 0, { data })
  const { id } = await openSession(first.url)
  await first.app.close()
  const { app } = await serve(t, 0, { data })
  const { sessions } = app.mcp.store
  const load = sessions.load.bind(sessions)
  sessions.load = async id => { const record = await load(id); await takeTime(20); return record }
  await Promise.all([app.mcp.sessions.restore(id, 'another caller'), app.mcp.sessions.restore(id)])
  t.strictSame([app.mcp.sessions.find(id, 'another caller'), app.mcp.sessions.find(id)?.id], [undefined, id])
})

t.test('a stream that breaks before its first event resumes, however often, and after a restart', async t => {
  const [port, data] = [await freePort(), await dataFolder(t)]
  const first = await serve(t, port, { data })
  const session = await openSession(first.url)
  let lastId: string | undefined
  for (let time = 0; time < 3; time++) {
    await until(() => !first.app.mcp.sessions.find(session.id)?.standalone.connected)
    const stream = await session.listen(lastId)
    t.equal(stream.response.status, 200)
    lastId = (await stream.event())?.id
    t.type(lastId, 'string')
    stream.drop()
  }
  await first.app.close()
  const second = await serve(t, port, { data })
  const stream = await session.listen(lastId)
  second.app.mcp.tools.remove('echo')
  t.match(await stream.message(), { method: 'notifications/tools/list_changed' })
  stream.drop()
})
