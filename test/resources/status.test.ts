import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { folder } from '../support/process.js'
import { gateway, listening } from '../support/gateway.js'
import { openSession } from '../support/http-session.js'
import { ERAS, Speaker, textOf } from '../support/speaker.js'

const STATUS = 'server://status'
const UPDATED = 'notifications/resources/updated'

/** A gateway whose file may not grow: small writes succeed, large ones fail. */
async function tight (t: Test, options: object = {}): Promise<FastifyInstance> {
  return await gateway(t, { data: await folder(t, {}), maxData: 1, ...options })
}

const fail = async (speaker: Speaker): Promise<string> =>
  textOf(await speaker.tool('add_note', { content: 'x'.repeat(60_000) }))
const succeed = async (speaker: Speaker): Promise<string> => textOf(await speaker.tool('increment_counter'))

async function status (speaker: Speaker): Promise<{ status: string, uptime: number, reason?: string }> {
  const { result } = await speaker.request('resources/read', { uri: STATUS })
  return JSON.parse((result.contents as [{ text: string }])[0].text) as {
    status: string
    uptime: number
    reason?: string
  }
}

const health = async (app: FastifyInstance) => (await app.inject('/health')).json<{ status: string, reason?: string }>()

t.test('it has the status and the uptime, and nothing else', async t => {
  const app = await gateway(t)
  for (const version of ERAS) {
    const speaker = new Speaker(app, { version })
    const { result } = await speaker.request('resources/read', { uri: STATUS })
    t.match(result.contents, [{ uri: STATUS, mimeType: 'application/json' }], version)
    const found = await status(speaker)
    t.strictSame(Object.keys(found), ['status', 'uptime'], version)
    t.ok(found.status === 'healthy' && Number.isInteger(found.uptime), version)
  }
})

t.test('a subscriber is notified when the status changes, and when it changes back', async t => {
  for (const version of ERAS) {
    const app = await tight(t, { http: false })
    const [speaker, other] = [new Speaker(app, { version }), new Speaker(app)]
    await speaker.subscribe(STATUS)
    t.equal(await succeed(other), 'Counter: 1')
    t.strictSame(speaker.notifications, [], 'nothing has changed')
    t.match(await fail(other), /^Storage failed/)
    t.match(await speaker.next(UPDATED), { uri: STATUS }, version)
    t.match(await status(speaker), { status: 'degraded', reason: /maxData/ }, version)
    t.equal(await succeed(other), 'Counter: 2')
    t.match(await status(speaker), { status: 'degraded' }, 'a change in place says nothing about new things')
    await app.mcp.store.values.put('small', 'key', 1)
    t.match(await speaker.next(UPDATED), { uri: STATUS }, version)
    t.match(await status(speaker), { status: 'healthy' }, version)
    t.notOk('reason' in await status(speaker))
    t.strictSame(speaker.notifications.filter(({ method }) => method === UPDATED), [], 'once each')
  }
})

t.test('over HTTP the change comes on the stream, and /health has the same status', async t => {
  const { app, url } = await listening(t, { data: await folder(t, {}), maxData: 1 })
  const session = await openSession(url)
  await session.post({ id: 1, method: 'resources/subscribe', params: { uri: STATUS } })
  const stream = await session.listen()
  t.teardown(() => stream.drop())
  t.match(await health(app), { status: 'healthy', live: true, ready: true })
  const other = new Speaker(app)
  await fail(other)
  t.match(await stream.message(), { method: UPDATED, params: { uri: STATUS } })
  const response = await fetch(`${url}/health`)
  t.equal(response.status, 200, 'whoever is answered here can make calls')
  t.match(await response.json(), { status: 'degraded', reason: /option maxData/, live: true, ready: true })
})

t.test('a gateway that stays degraded notifies once', async t => {
  const app = await tight(t, { http: false })
  const [speaker, other] = [new Speaker(app), new Speaker(app)]
  await speaker.subscribe(STATUS)
  for (let count = 0; count < 5; count++) t.match(await fail(other), /^Storage failed/)
  t.match(await status(speaker), { status: 'degraded' })
  t.equal(speaker.notifications.filter(({ method }) => method === UPDATED).length, 1)
})

t.test('a write that was refused for another reason proves nothing about the disk', async t => {
  const app = await tight(t)
  const speaker = new Speaker(app)
  await speaker.tool('increment_counter', { amount: Number.MAX_SAFE_INTEGER })
  await fail(speaker)
  t.match(await health(app), { status: 'degraded' })
  t.match(await succeed(speaker), /no sum that can be counted exactly/)
  t.match(await health(app), { status: 'degraded' })
  await app.mcp.notes.delete(undefined, '999')
  t.match(await health(app), { status: 'degraded' })
})

t.test('a gateway in memory is always well', async t => {
  const app = await gateway(t, { ephemeral: true, maxData: 1 })
  const speaker = new Speaker(app)
  t.match(await fail(speaker), 'Note 1 added')
  t.match(await health(app), { status: 'healthy' })
})
