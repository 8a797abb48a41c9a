import { EventEmitter, once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { tool } from '../../../app.js'
import { modernMeta } from '../../support/modern.js'
import { listening } from '../../support/gateway.js'
import { nextEvent, until } from '../../support/wait.js'
import { openSession, post, slow } from '../../support/http-session.js'
import { openStream } from '../../support/event-reader.js'

/** A tool that reports once, then waits until it is released or aborted. */
function waiting (app: FastifyInstance): EventEmitter {
  const calls = new EventEmitter()
  app.mcp.tools.add(tool({
    name: 'wait',
    description: 'd',
    run: async (_input, call) => {
      call.progress(1)
      calls.emit('started')
      const over = new AbortController()
      await Promise.race([
        once(calls, 'go', { signal: over.signal }),
        once(call.signal, 'abort', { signal: over.signal })
      ])
      over.abort()
      calls.emit(call.signal.aborted ? 'aborted' : 'done')
      return 'went on'
    }
  }))
  return calls
}

const wait = (id: number, more: object = {}) => ({
  id,
  method: 'tools/call',
  params: { name: 'wait', _meta: { progressToken: 'p', ...more } }
})
const modernHeaders = {
  'content-type': 'application/json',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'wait'
}

t.test('a reply is JSON if the answer comes first, and a stream as soon as anything precedes it', async t => {
  const { url } = await listening(t)
  const session = await openSession(url)
  const plain = await session.post(slow(1, 1, 1, ''))
  t.match(plain.headers.get('content-type'), /^application\/json/)
  const { response, ...stream } = await opened(session.stream(slow(2, 2, 1)))
  t.match(response.headers.get('content-type'), /^text\/event-stream/)
  t.equal(response.headers.get('x-accel-buffering'), 'no')
  t.match(response.headers.get('cache-control'), /no-cache.*no-transform|no-transform.*no-cache/)
  t.match(
    (await stream.rest())
      .map(({ data }) => data)
      .filter(Boolean)
      .map(data => JSON.parse(data as string) as object),
    [{ params: { progress: 1 } }, { params: { progress: 2 } }, { id: 2, result: {} }],
    'and it ends with the answer'
  )
})

t.test('a modern client that drops its stream cancels its call', async t => {
  const { app, url } = await listening(t)
  const calls = waiting(app)
  const [started, aborted] = [nextEvent(calls, 'started'), nextEvent(calls, 'aborted')]
  const stream = await openStream(`${url}/mcp`, {
    method: 'POST',
    headers: modernHeaders,
    body: JSON.stringify({ jsonrpc: '2.0', ...wait(1, modernMeta()) })
  })
  await started
  t.match(await stream.message(), { method: 'notifications/progress' })
  stream.drop()
  await aborted
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
})

t.test('a modern client that drops before anything was sent cancels its call, too', async t => {
  const { app, url } = await listening(t)
  const calls = waiting(app)
  const [started, aborted] = [nextEvent(calls, 'started'), nextEvent(calls, 'aborted')]
  const controller = new AbortController()
  const { progressToken, ...meta } = { progressToken: undefined, ...modernMeta() }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait', _meta: meta } })
  const answer = fetch(`${url}/mcp`, { method: 'POST', headers: modernHeaders, body, signal: controller.signal }).catch(
    () => 'dropped'
  )
  await started
  controller.abort()
  await aborted
  t.equal(await answer, 'dropped')
})

t.test('a client with a session that drops its stream finds the answer when it comes back', async t => {
  const { app, url } = await listening(t)
  const calls = waiting(app)
  const session = await openSession(url)
  const [started, done] = [nextEvent(calls, 'started'), nextEvent(calls, 'done')]
  const stream = await session.stream(wait(1))
  await started
  const first = await stream.event()
  t.match(first, { id: /^[0-9a-f]{12}-0$/, data: '', retry: /^\d+$/ }, 'a place to resume from comes first')
  stream.drop()
  const place = await app.mcp.sessions.find(session.id)?.findResumePoint(first?.id as string)
  await until(() => typeof place === 'object' && !place.stream.connected)
  calls.emit('go')
  await done
  const rest = await (await session.listen(first?.id)).rest()
  t.match(
    rest.map(({ data }) => (data === '' ? 'primed' : (JSON.parse(data as string) as object))),
    ['primed', { params: { progress: 1 } }, { id: 1, result: { content: [{ text: 'went on' }] } }]
  )
})

t.test('each stream is resumed on its own, once and in order, from wherever it broke off', async t => {
  const { url } = await listening(t)
  const session = await openSession(url, '2025-06-18')
  const streams = await Promise.all([session.stream(slow(1, 5, 1, 'a')), session.stream(slow(2, 5, 1, 'b'))])
  const whole = await Promise.all(streams.map(async stream => await stream.rest()))
  for (const events of whole) {
    t.equal(events.length, 6)
    for (const [index, { id }] of events.entries()) {
      const rest = await (await session.listen(id)).rest()
      t.strictSame(rest, events.slice(index + 1), `after ${id}`)
    }
  }
})

t.test('a call that released its connection is answered on the next one', async t => {
  const { app, url } = await listening(t)
  const go = new EventEmitter()
  app.mcp.tools.add(
    tool({
      name: 'released',
      description: 'd',
      run: async (_input, call) => {
        call.release(20)
        await once(go, 'go')
        return 'fetched'
      }
    })
  )
  const session = await openSession(url)
  const events = await (await session.stream({ id: 1, method: 'tools/call', params: { name: 'released' } })).rest()
  t.match(
    events,
    [{ id: /^[0-9a-f]{12}-0$/, data: '', retry: '20' }],
    'the stream ends, with a place and a time to come back'
  )
  const back = await session.listen(events[0]?.id)
  go.emit('go')
  t.match(await back.message(), { id: 1, result: { content: [{ text: 'fetched' }] } })
  t.equal((await back.rest()).length, 0)
})

t.test('notifications sent without a stream wait for the next one', async t => {
  const { app, url } = await listening(t)
  const session = await openSession(url)
  app.mcp.tools.add(tool({ name: 'late', description: 'd', run: () => '' }))
  t.match(await (await session.listen()).message(), { method: 'notifications/tools/list_changed' })
})

t.test('DELETE ends a session: its stream, its calls, and everything under its id', async t => {
  const { app, url } = await listening(t)
  const calls = waiting(app)
  const session = await openSession(url)
  const stream = await session.listen()
  const [started, aborted] = [nextEvent(calls, 'started'), nextEvent(calls, 'aborted')]
  const call = await session.stream(wait(1))
  await started
  t.equal(await session.end(), 200)
  await aborted
  await Promise.all([stream.rest(), call.rest()])
  t.equal((await session.post({ id: 2, method: 'ping' })).status, 404)
  t.equal((await session.listen()).response.status, 404)
  t.equal(await session.end(), 404)
  t.equal(app.mcp.sessions.size, 0)
})

for (const lastEventId of ['nonsense', '9-0', '0-99', '1-1-1']) {
  t.test(`nothing can be resumed from ${lastEventId}`, async t => {
    const { url } = await listening(t)
    t.equal((await (await openSession(url)).listen(lastEventId)).response.status, 404)
  })
}

t.test('one session cannot resume the stream of another', async t => {
  const { url } = await listening(t)
  const [ada, bob] = [await openSession(url), await openSession(url)]
  const [first] = await (await ada.stream(slow(1, 1, 1))).rest()
  t.equal((await bob.listen(first?.id)).response.status, 404)
})

t.test('a POST without a session is never given one of another client', async t => {
  const { url } = await listening(t)
  await openSession(url)
  t.equal((await post(url, { id: 1, method: 'tools/list' })).status, 400)
  t.equal((await post(url, { id: 1, method: 'tools/list' }, { 'mcp-session-id': 'x' })).status, 404)
})

t.test('X-Session-ID is another name for the session', async t => {
  const { url } = await listening(t)
  const { headers } = await post(url, { id: 0, method: 'initialize', params: {} })
  const id = headers.get('x-session-id') as string
  t.equal(id, headers.get('mcp-session-id'))
  const answer = await post(url, { id: 1, method: 'ping' }, { 'x-session-id': id })
  t.equal(answer.headers.get('x-session-id'), id)
  t.match(answer.body, { id: 1, result: {} })
  t.equal((await post(url, { id: 1, method: 'ping' }, { 'x-session-id': id, 'mcp-session-id': 'other' })).status, 400)
})

async function opened (stream: ReturnType<typeof openStream>) {
  const reader = await stream
  return { response: reader.response, rest: async () => await reader.rest() }
}
