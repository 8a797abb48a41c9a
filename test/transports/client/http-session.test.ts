import { once } from 'node:events'
import t from 'tap'
import { encodeResult } from '../../../protocol/wire/jsonrpc.js'
import { modernMeta } from '../../support/modern.js'
import { inTime } from '../../support/wait.js'
import { answerHandshake, connect, end, event, resultOf, sendJson, startEvents, startRawServer } from './raw-server.js'

t.test('sends the session and the negotiated version after the handshake, and ends the session at close', async t => {
  const { url, got } = await startRawServer(t, item => item.method !== 'DELETE' && answerHandshake(item))
  const recorder = await connect(t, 'http', url, {}, { Authorization: 'Bearer x', accept: 'text/html' })
  await recorder.initialize()

  const { id } = recorder.send('tools/list')
  const list = await got.take('tools/list')
  t.match(list.headers, {
    'mcp-session-id': 'session-1',
    'mcp-protocol-version': '2025-11-25',
    authorization: 'Bearer x',
    accept: 'application/json, text/event-stream',
    'accept-encoding': 'identity'
  })
  t.equal(list.headers['mcp-method'], undefined, 'a legacy server gets no mirrored headers')
  sendJson(list, resultOf(list, { tools: [] }))
  t.match(await recorder.outcome(id), { message: { result: { tools: [] } } })

  const closed = recorder.link.close()
  const last = await got.take('DELETE')
  t.match(last, { method: 'DELETE', headers: { 'mcp-session-id': 'session-1' } })
  end(last, 204)
  await closed
})

t.test('closes in time although the server does not answer DELETE', async t => {
  const { url } = await startRawServer(t, item => item.method !== 'DELETE' && answerHandshake(item))
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  await recorder.ask('initialize')
  await recorder.link.close()
  t.match(await recorder.reports.take('closed'), { what: 'closed' })
})

t.test('sends no request before the server knows that the handshake is complete, and listens first', async t => {
  const order: string[] = []
  const { url, got } = await startRawServer(t, item => {
    order.push(item.message.method ?? item.method)
    return item.message.method !== 'notifications/initialized' && answerHandshake(item, { listens: true })
  })
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  recorder.send('tools/list')
  end(await got.take('initialized', ({ message }) => message.method === 'notifications/initialized'), 202)
  startEvents(await got.take('GET', ({ method }) => method === 'GET'))
  const list = await got.take('tools/list')
  sendJson(list, resultOf(list))
  t.same(order, ['initialize', 'notifications/initialized', 'GET', 'tools/list'])
})

t.test('reports what comes on the GET stream, and opens it again after its last event', async t => {
  const { url, got } = await startRawServer(t, item => answerHandshake(item, { listens: true }))
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  const stream = startEvents(await got.take('GET'))
  stream.end(`retry: 1\n\n${event({ jsonrpc: '2.0', id: 'q', method: 'ping' }, 'e7')}`)
  t.match(await recorder.message('ping'), { on: undefined, message: { id: 'q' } })

  const again = await got.take('the next GET')
  t.match(again.headers, { 'last-event-id': 'e7', 'mcp-session-id': 'session-1' })
  end(again, 404)
  t.match(
    await recorder.reports.take('expired'),
    { what: 'expired', id: undefined },
    'a session that is unknown there is lost'
  )
})

t.test('a request that the server refuses because it does not know the session was not run', async t => {
  let isLost = false
  const { url } = await startRawServer(t, item =>
    isLost
      ? sendJson(item, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, 404)
      : answerHandshake(item)
  )
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  isLost = true
  t.match(await recorder.ask('tools/call', { name: 'x' }), { what: 'expired' })
})

t.test('takes status 400 about the session for a lost session, and no other 400', async t => {
  let text = 'Bad Request: too many cooks'
  const { url } = await startRawServer(t, item => item.message.method === 'tools/list'
    ? sendJson(item, { jsonrpc: '2.0', id: null, error: { code: -32000, message: text } }, 400)
    : answerHandshake(item))
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  t.match(await recorder.ask('tools/list'), {
    what: 'message',
    status: 400,
    message: { error: { code: -32000, message: text } }
  })
  text = 'Bad Request: No valid session ID provided'
  t.match(await recorder.ask('tools/list'), { what: 'expired' })
  t.match(await recorder.ask('tools/call'), { what: 'expired' }, 'nothing more is sent')
})

t.test('fetches the rest of a reply that broke off, where its events have ids', async t => {
  const { url, got } = await startRawServer(
    t,
    item => item.headers['last-event-id'] === undefined && answerHandshake(item)
  )
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()

  const { id, channel } = recorder.send('tools/call', { name: 'slow' })
  const call = await got.take('tools/call')
  startEvents(call).write(
    `retry: 1\n${event('', 'a1')}${event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }, 'a2')}`
  )
  t.match(await recorder.message('notifications/progress'), { on: channel })
  call.socket.destroy()
  const second = await got.take('GET')
  t.equal(second.headers['last-event-id'], 'a2')
  startEvents(second).end(event({ jsonrpc: '2.0', method: 'notifications/message', params: {} }, 'a3'))
  t.match(await recorder.message('notifications/message'), { on: channel })
  const third = await got.take('GET')
  t.equal(third.headers['last-event-id'], 'a3')
  startEvents(third).end(event(resultOf(call, { done: true })))
  t.match(await recorder.outcome(id), { on: channel, message: { result: { done: true } } })
})

t.test('gives up a reply that cannot be resumed', async t => {
  const { url, got } = await startRawServer(t, item =>
    item.headers['last-event-id'] === undefined ? answerHandshake(item) : end(item, 405)
  )
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  const { id } = recorder.send('tools/call', { name: 'slow' })
  startEvents(await got.take('tools/call')).end(`retry: 1\n${event('', 'a1')}`)
  t.match(await recorder.outcome(id), { what: 'failed', status: 405 })

  const other = recorder.send('tools/call', { name: 'slow' })
  startEvents(await got.take('tools/call')).end(event({ jsonrpc: '2.0', method: 'notifications/progress', params: {} }))
  t.match(
    await recorder.outcome(other.id),
    { what: 'failed', why: /stream ended without the response/ },
    'without ids there is nothing to resume'
  )
})

t.test('cancels with a notification in a session, also while all connections for calls are in use', async t => {
  const { url, got } = await startRawServer(t, answerHandshake)
  const recorder = await connect(t, 'http', url, { connections: 2 })
  await recorder.initialize()
  const calls = [
    recorder.send('tools/call', { name: 'a' }),
    recorder.send('tools/call', { name: 'b' }),
    recorder.send('tools/call', { name: 'c' })
  ]
  await got.take('a', ({ message }) => message.params?.name === 'a')
  await got.take('b', ({ message }) => message.params?.name === 'b')

  calls[0]?.cancel()
  const cancelled = await got.take('cancelled', ({ message }) => message.method === 'notifications/cancelled')
  t.match(cancelled.message, { params: { requestId: calls[0]?.id } })
  t.match(cancelled.headers, { 'mcp-session-id': 'session-1' })
  end(cancelled, 202)
  await got.take('c', ({ message }) => message.params?.name === 'c')
})

t.test('cancels by closing the reply where there is no session', async t => {
  const { url, got } = await startRawServer(t)
  const recorder = await connect(t, 'http', url)
  const { cancel } = recorder.send('tools/call', { name: 'a', _meta: modernMeta() })
  const call = await got.take('a')
  const closed = new Promise(resolve => call.response.once('close', resolve))
  startEvents(call)
  cancel()
  await closed
  t.same(got.empty(), [], 'no notification is sent')
})

t.test('posts the answer to a question that came on the stream of a request', async t => {
  const { url, got } = await startRawServer(t, answerHandshake)
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  const { id, channel } = recorder.send('tools/call', { name: 'ask' })
  const call = await got.take('call')
  const stream = startEvents(call)
  stream.write(event({ jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params: {} }))
  t.match(await recorder.message('elicitation/create'), { on: channel })
  channel.respond(encodeResult('q1', '{"action":"decline"}'), 200)
  const answer = await got.take('answer')
  t.match(answer.message, { id: 'q1', result: { action: 'decline' } })
  end(answer, 202)
  stream.end(event(resultOf(call)))
  t.match(await recorder.outcome(id), { message: { result: {} } })
})

t.test('sends the headers that mirror a request without a session', async t => {
  const { url, got } = await startRawServer(t, () => false)
  const recorder = await connect(t, 'http', `${url}?a=1`)
  recorder.send('tools/call', { name: ' ä', arguments: {}, _meta: modernMeta() }, { 'Mcp-Param-Region': 'eu' })
  const call = await got.take('call')
  t.match(call, {
    path: '/mcp?a=1',
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': '=?base64?IMOk?=',
      'mcp-param-region': 'eu'
    }
  })
  t.equal(call.headers['mcp-session-id'], undefined)
  call.response.end()
})

t.test('a server that asks without an end and takes no answers costs a bounded number of requests', async t => {
  const { url, got } = await startRawServer(t, item => item.message.result === undefined && answerHandshake(item))
  const recorder = await connect(t, 'http', url, { maxQueue: 20_000 })
  await recorder.initialize()
  await recorder.ask('initialize')
  for (let count = 0; count < 1_000; count++) recorder.link.channel.respond(encodeResult(count, '{}'), 200)
  const answers = [await got.take('an answer')]
  // Each answer that is taken makes way for one that waits.
  for (let item = answers[0]; item !== undefined && answers.length < 10; answers.push(item)) {
    end(item, 202)
    item = await got.take('the next')
  }
  t.equal(answers.length, 10)
  await inTime(recorder.link.close(), 'the close, which does not wait for all answers', 15_000)
  t.ok(got.empty().length < 100, 'most were dropped')
})

t.test('a server that is gone ends the link, which listened to it', async t => {
  const server = await startRawServer(t, item => answerHandshake(item, { listens: true }))
  const recorder = await connect(t, 'http', server.url)
  await recorder.initialize()
  startEvents(await server.got.take('GET'))
  await server.stop()
  t.match(await recorder.reports.take('closed'), { what: 'closed', why: /refused/ })
})

t.test('a request that is answered on the GET stream keeps no connection', async t => {
  const { url, got } = await startRawServer(t, item => answerHandshake(item, { listens: true }))
  const recorder = await connect(t, 'http', url, { connections: 1 })
  await recorder.initialize()
  const stream = startEvents(await got.take('GET'))
  for (let call = 0; call < 3; call++) {
    const { id } = recorder.send('tools/call', { name: 'x' })
    const request = await got.take('the call')
    startEvents(request)
    const gone = once(request.response, 'close')
    stream.write(event(resultOf(request)))
    t.match(await recorder.outcome(id), { message: { id } })
    await gone
  }
})

t.test('a stream that breaks off after each event is resumed at intervals, whatever its server says', async t => {
  const times: number[] = []
  const { url, got } = await startRawServer(t, item => {
    if (item.headers['last-event-id'] === undefined) return answerHandshake(item)
    times.push(performance.now())
    const isLast = times.length === 4
    startEvents(item).end(
      isLast ? event({ jsonrpc: '2.0', id: call, result: {} }) : `retry: 0\n${event('', `e${times.length}`)}`
    )
    return true
  })
  const recorder = await connect(t, 'http', url)
  await recorder.initialize()
  const { id: call } = recorder.send('tools/call', { name: 'x' })
  startEvents(await got.take('the call')).end(`retry: 0\n${event('', 'e0')}`)
  t.match(await recorder.outcome(call), { message: { id: call } })
  for (const [index, time] of times.slice(1).entries()) {
    t.ok(time - (times[index] ?? 0) >= 90, 'about a tenth of a second at least')
  }
})
