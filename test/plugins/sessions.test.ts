import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { build, type Options } from '../../app.js'
import { freePort } from '../app/restarting.js'
import fixture, { listening } from '../helper.js'
import { eventually } from '../protocol/deadline.js'
import { dataFolder } from '../stores/on-disk.js'
import { openSession, slow } from '../transports/http-session.js'

async function serve (t: Test, port: number, options: Partial<Options>): Promise<{ app: FastifyInstance, url: string }> {
  const app = await build({ plugins: [fixture], grace: 200, ...options })
  t.teardown(async () => await app.close())
  return { app, url: await app.listen({ port, host: '127.0.0.1' }) }
}

t.test('sessions outlive a gateway that is closed, and are brought back where they were', async t => {
  const [port, data] = [await freePort(), await dataFolder(t)]
  const first = await serve(t, port, { data })
  const session = await openSession(first.url)
  await first.app.close()
  const second = await serve(t, port, { data })
  await eventually(() => second.app.sessions.size === 1)
  t.equal((await session.post({ id: 1, method: 'ping' })).status, 200)
})

t.test('a gateway elsewhere brings a session back when its client comes', async t => {
  const data = await dataFolder(t)
  const first = await serve(t, 0, { data })
  const session = await openSession(first.url)
  await first.app.close()
  const second = await serve(t, 0, { data })
  t.equal(second.app.sessions.size, 0)
  const moved = Object.assign(session, { url: second.url })
  const answers = await Promise.all([1, 2, 3, 4, 5].map(async id => await moved.post({ id, method: 'ping' })))
  t.strictSame(answers.map(({ status }) => status), [200, 200, 200, 200, 200])
  t.equal(second.app.sessions.size, 1, 'once, however many requests bring it back')
})

t.test('no more sessions are brought back than there may be', async t => {
  const [port, data] = [await freePort(), await dataFolder(t)]
  const first = await serve(t, port, { data })
  for (let count = 0; count < 6; count++) await openSession(first.url)
  await first.app.close()
  const second = await serve(t, port, { data, maxSessions: 2 })
  await eventually(() => second.app.sessions.size >= 2)
  t.equal(second.app.sessions.size, 2)
})

t.test('a client is served although nothing can be kept any more', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t), maxData: 150_000 })
  while (app.store.trouble === undefined) await app.store.values.put('space', String(Math.random()), 'x'.repeat(3_000)).catch(() => {})
  const session = await openSession(url)
  t.match((await session.post({ id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hello' } } })).body, { result: { structuredContent: { text: 'hello' } } })
  const events = await (await session.stream(slow(2, 2, 1))).rest()
  t.match(events.map(({ data = '' }) => data).filter(data => data !== '').map(data => JSON.parse(data) as object), [{ params: { progress: 1 } }, { params: { progress: 2 } }, { id: 2, result: {} }])
  t.equal(await session.end(), 204)
})

t.test('a session that is idle for too long is forgotten for good', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t), sessionIdle: 1 })
  const session = await openSession(url)
  await eventually(() => app.sessions.size === 0)
  await app.store.sessions.sweep()
  t.equal((await session.post({ id: 1, method: 'ping' })).status, 404)
})

t.test('a session that is being ended is not brought back by what its client sends meanwhile', async t => {
  const { app, url } = await listening(t, { data: await dataFolder(t) })
  const { id } = await openSession(url)
  const session = app.sessions.find(id)
  t.ok(session)
  if (session === undefined) return
  const ended = app.sessions.end(session, new Error('the client ended the session'))
  await app.sessions.revive(id)?.catch(() => {})
  await ended
  t.equal(app.sessions.find(id), undefined)
  t.equal(await app.store.sessions.load(id), undefined)
})
