import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { tool } from '../../../app.js'
import { modernMeta } from '../../support/modern.js'
import { listening } from '../../support/gateway.js'
import { turnable } from '../../support/clocks.js'
import { takeTime, until, within } from '../../support/wait.js'
import { openSession, post, slow } from '../../support/http-session.js'
import { openStream } from '../../support/event-reader.js'

t.test('sessions beyond the limit are refused, until one of the others ends', async t => {
  const { url } = await listening(t, { limits: { maxSessions: 2 } })
  const [first] = [await openSession(url), await openSession(url)]
  const refused = await post(url, { id: 0, method: 'initialize', params: {} })
  t.equal(refused.status, 503)
  t.match(refused.body, { error: { message: /too many sessions/ } })
  t.equal((await openStream(`${url}/mcp/sse`)).response.status, 503)
  await first.end()
  await openSession(url)
})

t.test('a handshake that failed leaves no session behind', async t => {
  const { app, url } = await listening(t, { limits: { maxSessions: 1 } })
  await post(url, { id: 0, method: 'initialize', params: { capabilities: 'none' } })
  t.equal(app.mcp.sessions.size, 0)
})

t.test('an idle session ends', async t => {
  const { app, url } = await listening(t, { sessionIdle: 50 })
  const session = await openSession(url)
  await until(() => app.mcp.sessions.size === 0)
  t.equal((await session.post({ id: 1, method: 'ping' })).status, 404)
})

t.test('a session with an open stream or a call under way does not end', async t => {
  const { app, url } = await listening(t, { sessionIdle: 3_000 })
  const [idle, streaming, calling] = [await openSession(url), await openSession(url), await openSession(url)]
  const stream = await streaming.listen()
  const call = await calling.stream(slow(1, 4, 700))
  turnable(t).later = 3_600_000
  await until(() => app.mcp.sessions.size === 2)
  t.equal((await idle.post({ id: 1, method: 'ping' })).status, 404)
  t.equal((await streaming.post({ id: 1, method: 'ping' })).status, 200)
  t.match((await call.rest()).at(-1), { data: /"id":1,"result"/ })
  stream.drop()
})

t.test('the time of a session starts anew when its stream breaks off', async t => {
  const { app, url } = await listening(t, { sessionIdle: 12_000 })
  const clock = turnable(t)
  await openSession(url)
  const streaming = await openSession(url)
  const stream = await streaming.listen()
  clock.later = 3_600_000
  await until(() => app.mcp.sessions.size === 1)
  clock.later = 0
  await openSession(url)
  clock.later = 3_600_000
  stream.drop()
  await until(() => app.mcp.sessions.size < 2)
  t.equal(
    (await streaming.post({ id: 1, method: 'ping' })).status,
    200,
    'its last request was an hour ago, but it was connected until a moment ago'
  )
})

t.test('an open stream shows signs of life', async t => {
  const { url } = await listening(t, { limits: { keepAlive: 20 } })
  for (const path of ['/sse', '/mcp/sse']) {
    const stream = await openStream(`${url}${path}`)
    const comments: string[] = []
    while (comments.filter(comment => comment === 'keep-alive').length < 2) {
      const event = await stream.any()
      if (event?.comment !== undefined) comments.push(event.comment)
    }
    t.pass(path)
    stream.drop()
  }
})

t.test('a client that does not read its stream is cut off', async t => {
  const { app, url } = await listening(t, { limits: { maxQueue: 100_000 } })
  const stream = await openStream(`${url}/sse`)
  t.match(await stream.event(), { event: 'endpoint' })
  await until(() => {
    for (const peer of app.mcp.dispatcher.lifecycle.peers) {
      peer.notify('notifications/message', { level: 'error', data: 'x'.repeat(50_000) })
    }
    return app.mcp.dispatcher.lifecycle.peers.size === 0
  })
  stream.drop()
})

t.test('a client for whom a little too much waits is cut off when it takes nothing of it in time', async t => {
  const { app, url } = await listening(t, { limits: { maxQueue: 1_000_000, writeDeadline: 50 } })
  const stream = await openStream(`${url}/sse`)
  t.match(await stream.event(), { event: 'endpoint' })
  const [peer] = app.mcp.dispatcher.lifecycle.peers
  // Enough to fill what the operating system takes, and then some; far less than what is cut at once.
  for (let sent = 0; sent < 240; sent++) {
    peer?.notify('notifications/message', { level: 'error', data: 'x'.repeat(50_000) })
    await new Promise(resolve => setImmediate(resolve))
  }
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  stream.drop()
})

t.test('while too much waits for all clients together, one that is behind is not given more time', async t => {
  const { app, url } = await listening(t, {
    limits: { maxQueue: 1_000_000, maxQueued: 1_000_000, writeDeadline: 600_000 }
  })
  const stream = await openStream(`${url}/sse`)
  t.match(await stream.event(), { event: 'endpoint' })
  const [peer] = app.mcp.dispatcher.lifecycle.peers
  // Less than what would be cut in any case, and long before the deadline.
  for (let sent = 0; sent < 240 && app.mcp.dispatcher.lifecycle.peers.size > 0; sent++) {
    peer?.notify('notifications/message', { level: 'error', data: 'x'.repeat(50_000) })
    await new Promise(resolve => setImmediate(resolve))
  }
  await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0, 'the end of the peer')
  stream.drop()
})

t.test('a slow reader gets all of a stream, however many signs of life fall into it', async t => {
  const { app, url } = await listening(t, { limits: { keepAlive: 5, maxQueue: 100_000_000 } })
  const count = 400
  app.mcp.tools.add(
    tool({
      name: 'flood',
      description: 'd',
      run: (_input, call) => {
        for (let sent = 1; sent <= count; sent++) call.progress(sent, count, 'x'.repeat(50_000))
      }
    })
  )
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'flood', _meta: { ...modernMeta(), progressToken: 1 } }
  })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(
    [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'MCP-Protocol-Version: 2026-07-28',
      'Mcp-Method: tools/call',
      'Mcp-Name: flood',
      `Content-Length: ${body.length}`,
      'Connection: close',
      '',
      body
    ].join('\r\n')
  )
  let text = ''
  await within(60_000, async signal => {
    await once(socket, 'readable', { signal })
    // The server has sent everything and ended its stream long before the client reads on.
    await takeTime(100)
    for await (const chunk of socket) text += String(chunk)
  })
  t.equal(text.match(/notifications\/progress/g)?.length, count)
  t.match(text.slice(-1_000), /"id":1,"result"/)
})
