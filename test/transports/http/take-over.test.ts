import { once } from 'node:events'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { listening } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { openSession, post, slow, type HttpSession } from '../../support/http-session.js'
import { openStream, type EventReader } from '../../support/event-reader.js'

/** Sends the client of a session a number, which belongs to no call. */
function sendNumber (app: FastifyInstance, { id }: { id: string }, number: number): void {
  app.mcp.sessions.find(id)?.peer.notify('notifications/message', { level: 'info', data: number })
}

const nextNumber = async (stream: EventReader): Promise<unknown> =>
  ((await stream.message())['params'] as { data?: unknown }).data

/** Everything that comes on a stream until it ends, and whether it has ended. */
function follow (stream: EventReader): { numbers: unknown[], comments: number, ended: boolean } {
  const seen = { numbers: [] as unknown[], comments: 0, ended: false }
  const read = async (): Promise<void> => {
    for (let event = await stream.any(); event !== undefined; event = await stream.any()) {
      if (event.comment !== undefined) seen.comments++
      else if (event.data) seen.numbers.push((JSON.parse(event.data) as { params: { data: unknown } }).params.data)
    }
    seen.ended = true
  }
  read().catch(() => { seen.ended = true })
  return seen
}

t.test('a second stream on a session gets the messages; the first stays open and silent', async t => {
  const { app, url } = await listening(t, { limits: { keepAlive: 20 } })
  const session = await openSession(url)
  const first = follow(await session.listen())
  const second = await session.listen()
  t.equal(second.response.status, 200)
  for (let number = 1; number <= 3; number++) {
    sendNumber(app, session, number)
    t.equal(await nextNumber(second), number)
  }
  const { comments } = first
  await until(() => first.comments > comments + 2)
  t.strictSame([first.numbers, first.ended], [[], false])
})

t.test('a client that lost its connection returns with its last event and misses nothing', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const lost = await session.listen()
  sendNumber(app, session, 1)
  const { id } = (await lost.event(), await lost.event()) ?? {}
  // These go to a connection that is not read.
  sendNumber(app, session, 2)
  sendNumber(app, session, 3)
  const back = await session.listen(id)
  t.equal(back.response.status, 200)
  sendNumber(app, session, 4)
  t.strictSame([await nextNumber(back), await nextNumber(back), await nextNumber(back)], [2, 3, 4])
})

t.test('two live streams do not close each other, and each message reaches one of them', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const [one, other] = [follow(await session.listen()), follow(await session.listen())]
  const numbers = Array.from({ length: 50 }, (_, index) => index + 1)
  for (const number of numbers) sendNumber(app, session, number)
  await until(() => other.numbers.length >= 50)
  t.strictSame(
    [one, other].map(({ numbers, ended }) => ({ numbers, ended })),
    [
      { numbers: [], ended: false },
      { numbers, ended: false }
    ]
  )
})

t.test('when the newest stream goes, the one before carries on', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const older = await session.listen()
  const newer = await session.listen()
  sendNumber(app, session, 1)
  t.equal(await nextNumber(newer), 1)
  newer.drop()
  await until(() => app.mcp.sessions.find(session.id)?.standalone.attended === false)
  sendNumber(app, session, 2)
  t.equal(await nextNumber(older), 2)
})

t.test('a fifth stream closes the first, and the connection with it', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1')
  t.teardown(() => socket.destroy())
  const closed = once(socket, 'close')
  socket.write(
    `GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: ${session.id}\r\n\r\n`
  )
  await once(socket, 'data')
  const others: Array<ReturnType<typeof follow>> = []
  for (let count = 0; count < 4; count++) others.push(follow(await session.listen()))
  await closed
  sendNumber(app, session, 1)
  await until(() => others[3]?.numbers.length === 1)
  t.strictSame(others.map(({ ended }) => ended), [false, false, false, false])
})

t.test('a reply is taken over while the connection that asked for it is still open', async t => {
  const { url } = await listening(t)
  const session = await openSession(url)
  const asked = await session.stream(slow(1, 40, 25))
  const { id } = await asked.event() ?? {}
  const back = await session.listen(id)
  t.equal(back.response.status, 200)
  const events = (await back.rest())
    .filter(({ data }) => data)
    .map(({ data = '' }) => JSON.parse(data) as { params?: { progress: number }, result?: object })
  t.match(events.at(-1), { id: 1, result: { content: [{ text: '40 steps' }] } })
  t.strictSame(
    events.flatMap(({ params }) => (params === undefined ? [] : params.progress)),
    Array.from({ length: 40 }, (_, index) => index + 1),
    'from the event on that was named'
  )
  const before = (await asked.rest()).filter(({ data }) => data).map(({ data = '' }) => JSON.parse(data) as object)
  t.strictSame(before.filter(message => 'result' in message), [], 'the older connection ends without the answer')
})

t.test('named events are taken over like others; an uninitialized session lasts as long as its streams', async t => {
  const { app, url } = await listening(t)
  const first = await openStream(`${url}/mcp/sse`)
  const id = first.response.headers.get('x-session-id') as string
  const second = await openStream(`${url}/mcp/sse`, { headers: { 'x-session-id': id } })
  t.equal(second.response.status, 200)
  t.match(await second.event(), { event: 'connection', data: `{"type":"connected","session_id":"${id}"}` })
  const answer = await post(url, slow(1, 1, 1), { 'x-session-id': id })
  t.match(answer.body, { id: 1, result: {} })
  t.match(await second.event(), { event: 'progress' })
  first.drop()
  await until(() => app.mcp.connections.replies.size === 1)
  t.match(
    (await post(url, slow(2, 1, 1), { 'x-session-id': id })).body,
    { id: 2, result: {} },
    'the reply is JSON still'
  )
  t.match(await second.event(), { event: 'progress' })
  second.drop()
  await until(() => app.mcp.sessions.size === 0)
})

t.test('replies carry their own messages again when a plain stream takes over from named events', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  const named = await openStream(`${url}/mcp/sse`, { headers: session.headers })
  t.equal(app.mcp.sessions.find(session.id)?.named, true)
  const plain = await session.listen()
  t.equal(plain.response.status, 200)
  t.equal(app.mcp.sessions.find(session.id)?.named, false)
  const reply = await session.stream(slow(1, 1, 1))
  t.match((await reply.rest()).at(-1), { data: /"result"/ })
  plain.drop()
  await until(() => app.mcp.sessions.find(session.id)?.named === true)
  named.drop()
})

t.test('a stream that its client has replaced does not keep a session that is idle', async t => {
  const { app, url } = await listening(t, { sessionIdle: 1_500 })
  const [kept, left] = [await openSession(url), await openSession(url)]
  const stays = await kept.listen()
  const older = await left.listen()
  const newer = await left.listen()
  newer.drop()
  await until(() => app.mcp.sessions.size === 1)
  t.equal((await older.rest()).filter(({ data }) => data).length, 0, 'the older stream is ended')
  t.equal((await kept.post({ id: 1, method: 'ping' })).status, 200, 'one that nothing has replaced does')
  stays.drop()
})

/** Makes a method of the session store slow: its result comes only after the promise. */
function delay (app: FastifyInstance, method: 'read' | 'save', until: Promise<unknown>): Promise<string> {
  const { sessions } = app.mcp.store
  const inner = sessions[method].bind(sessions) as (...args: unknown[]) => Promise<unknown>
  return new Promise(resolve => {
    Object.assign(sessions, {
      [method]: async (...args: unknown[]) => {
        const done = inner(...args)
        resolve(String(args[0]))
        await until
        return await done
      }
    })
  })
}

const opening: Record<
  string,
  [method: 'read' | 'save', open: (url: string, session: HttpSession) => Promise<EventReader>]
> = {
  'GET /mcp with a Last-Event-ID': ['read', async (_url, session) => await session.listen('0-0')],
  'GET /mcp/sse with a Last-Event-ID': [
    'read',
    async (url, { headers }) => await openStream(`${url}/mcp/sse`, { headers: { ...headers, 'last-event-id': '0-0' } })
  ],
  'GET /mcp/sse with a session of its own': ['save', async url => await openStream(`${url}/mcp/sse`)]
}

for (const [what, [method, open]] of Object.entries(opening)) {
  t.test(`a DELETE while ${what} waits for a slow store leaves no stream`, async t => {
    const { app, url } = await listening(t)
    const session = await openSession(url)
    let goOn = (): void => {}
    const waiting = delay(app, method, new Promise<void>(resolve => { goOn = resolve }))
    const stream = open(url, session)
    const id = await waiting
    t.equal((await fetch(`${url}/mcp`, { method: 'DELETE', headers: { 'mcp-session-id': id } })).status, 200)
    goOn()
    const { response } = await stream
    t.equal(response.status, 404)
    t.match(await response.text(), /no such session/)
    if (id !== session.id) await session.end()
    await until(() => app.mcp.connections.replies.size === 0)
    t.strictSame([app.mcp.sessions.size, app.mcp.dispatcher.lifecycle.peers.size], [0, 0])
  })
}

t.test('DELETE is answered with 200 and nothing else', async t => {
  const { url } = await listening(t)
  const { headers } = await openSession(url)
  const response = await fetch(`${url}/mcp`, { method: 'DELETE', headers })
  t.strictSame([response.status, response.headers.get('content-length'), await response.text()], [200, '0', ''])
})
