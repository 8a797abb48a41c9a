import t from 'tap'
import { tool } from '../../../app.js'
import { listening } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { post, slow } from '../../support/http-session.js'
import { openStream, type Json, type EventReader } from '../../support/event-reader.js'

/** Opens `/mcp/sse` as `curl -N` does, and gives the session that the first event names. */
async function named (url: string, headers: Record<string, string> = {}): Promise<{ stream: EventReader, id: string }> {
  const stream = await openStream(`${url}/mcp/sse`, { headers })
  const { event, data } = await stream.event() ?? {}
  const { type, session_id: id } = JSON.parse(data ?? '{}') as { type: string, session_id: string }
  if (event !== 'connection' || type !== 'connected') throw new Error(`unexpected first event: ${event} ${data}`)
  return { stream, id }
}

const data = async (stream: EventReader): Promise<{ event: string | undefined, message: Json }> => {
  const { event, data } = await stream.event() ?? {}
  return { event, message: JSON.parse(data ?? '{}') as Json }
}

t.test('the first event names the connection and its session, which is in the headers, too', async t => {
  const { url } = await listening(t)
  const { stream, id } = await named(url)
  t.match(id, /^[\w-]{20,}$/)
  t.equal(stream.response.headers.get('x-session-id'), id)
  t.equal(stream.response.headers.get('mcp-session-id'), id)
  t.match(stream.response.headers.get('content-type'), /^text\/event-stream/)
})

t.test('requests with the session get plain JSON replies, and no handshake is needed', async t => {
  const { url } = await listening(t)
  const { id } = await named(url)
  const list = await post(url, { id: 2, method: 'tools/list', params: {} }, { 'x-session-id': id })
  t.match(list.headers.get('content-type'), /^application\/json/)
  t.match(list.body, { id: 2, result: { tools: [{ name: String, inputSchema: {} }] } })
  const call = await post(
    url,
    { id: 3, method: 'tools/call', params: { name: 'calculate', arguments: { operation: 'add', a: 5, b: 3 } } },
    { 'x-session-id': id }
  )
  t.strictSame(call.body, { jsonrpc: '2.0', id: 3, result: { content: [{ type: 'text', text: '5 + 3 = 8' }] } })
})

t.test('progress comes as an event of that name, while the reply stays JSON', async t => {
  const { url } = await listening(t)
  const { stream, id } = await named(url)
  const reply = await post(url, slow(4, 2, 5, 'task-1'), { 'x-session-id': id })
  t.match(reply.body, { id: 4, result: { content: [{ text: '2 steps' }] } })
  for (const progress of [1, 2]) {
    t.match(await data(stream), {
      event: 'progress',
      message: {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'task-1', progress, total: 2 }
      }
    })
  }
})

t.test('changes come as notifications', async t => {
  const { app, url } = await listening(t)
  const { stream, id } = await named(url)
  t.match(
    (await post(url, { id: 7, method: 'resources/subscribe', params: { uri: 'test://text' } }, { 'x-session-id': id }))
      .body,
    { id: 7, result: {} }
  )
  app.mcp.resources.updated('test://text')
  t.match(await data(stream), {
    event: 'notification',
    message: { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'test://text' } }
  })
  app.mcp.tools.add(tool({ name: 'late', description: 'd', run: () => '' }))
  t.match(await data(stream), { event: 'notification', message: { method: 'notifications/tools/list_changed' } })
  t.match(
    (
      await post(
        url,
        { id: 8, method: 'resources/unsubscribe', params: { uri: 'test://text' } },
        { 'x-session-id': id }
      )
    ).body,
    { id: 8, result: {} }
  )
  app.mcp.resources.updated('test://text')
  app.mcp.tools.remove('late')
  t.match(
    await data(stream),
    { message: { method: 'notifications/tools/list_changed' } },
    'nothing more of that resource'
  )
})

t.test('a session that was opened by a handshake may listen there', async t => {
  const { app, url } = await listening(t)
  const { headers } = await post(url, {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'curl', version: '1.0' } }
  })
  const { stream, id } = await named(url, { 'x-session-id': headers.get('x-session-id') as string })
  t.equal(id, headers.get('x-session-id'))
  app.mcp.tools.add(tool({ name: 'late', description: 'd', run: () => '' }))
  t.match(await data(stream), { event: 'notification' })
})

t.test('a session that was opened there may shake hands', async t => {
  const { url } = await listening(t)
  const { id } = await named(url)
  const answer = await post(
    url,
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } },
    { 'x-session-id': id }
  )
  t.match(answer.body, { id: 1, result: { protocolVersion: '2025-06-18' } })
  t.equal((await post(url, { method: 'initialized', params: {} }, { 'x-session-id': id })).status, 202)
})

t.test('an unknown session and a client that does not accept events are refused', async t => {
  const { url } = await listening(t)
  t.equal((await openStream(`${url}/mcp/sse`, { headers: { 'x-session-id': 'x' } })).response.status, 404)
  t.equal((await openStream(`${url}/mcp/sse`, { headers: { accept: 'text/html' } })).response.status, 406)
})

t.test('HTTP+SSE: the first event gives the URL to post to, and every answer is sent on the stream', async t => {
  const { url } = await listening(t)
  const stream = await openStream(`${url}/sse`)
  const endpoint = await stream.event()
  t.match(endpoint, { event: 'endpoint', data: /^\/message\?sessionId=[\w-]{32}$/ })
  const send = async (message: object) =>
    await fetch(`${url}${endpoint?.data}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...message })
    })
  const accepted = await send({ id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05' } })
  t.equal(accepted.status, 202)
  t.match(await data(stream), { event: 'message', message: { id: 1, result: { protocolVersion: '2024-11-05' } } })
  await send(slow(2, 1, 1))
  t.match(await data(stream), { event: 'message', message: { method: 'notifications/progress' } })
  t.match(await data(stream), { event: 'message', message: { id: 2, result: {} } })
})

t.test('HTTP+SSE: what cannot be read is refused at once, and what belongs nowhere is not taken', async t => {
  const { url } = await listening(t)
  const stream = await openStream(`${url}/sse`)
  const { data: endpoint } = await stream.event() ?? {}
  const send = async (path: string, body: string) =>
    (await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).status
  t.equal(await send(endpoint as string, '{'), 400)
  t.equal(await send('/message?sessionId=x', '{"jsonrpc":"2.0","id":1,"method":"ping"}'), 404)
  t.equal(await send(`${endpoint}&sessionId=x`, '{"jsonrpc":"2.0","id":1,"method":"ping"}'), 400)
})

t.test('HTTP+SSE: a stream that is dropped takes its session along', async t => {
  const { app, url } = await listening(t)
  const stream = await openStream(`${url}/sse`)
  const { data: endpoint } = await stream.event() ?? {}
  stream.drop()
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  const response = await fetch(`${url}${endpoint}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  })
  t.equal(response.status, 404)
})

t.test('a browser that reconnects to a lost session gets a new one and leaves none behind', async t => {
  const { app, url } = await listening(t)
  for (let count = 0; count < 5; count++) {
    const { stream, id } = await named(url, { 'last-event-id': '0-3' })
    t.ok(id)
    stream.drop()
  }
  await until(() => app.mcp.sessions.size === 0)
})
