import t, { type Test } from 'tap'
import { listening } from '../../support/gateway.js'
import { HttpSession, post } from '../../support/http-session.js'
import { openStream } from '../../support/event-reader.js'

const initialize = (params: object = {}) => ({ jsonrpc: '2.0', id: 0, method: 'initialize', params })

/** A server with a middleware that sends a notification before every answer, so that every reply is a stream. */
async function talkative (t: Test) {
  const { app, url } = await listening(t)
  app.mcp.use(async (call, next) => {
    call.log('warning', 'hello')
    return await next()
  })
  return {
    app,
    url,
    shake: async (params?: object) =>
      await openStream(`${url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(initialize(params))
      })
  }
}

t.test('a handshake that is answered as a stream gives a session all the same', async t => {
  const { app, url, shake } = await talkative(t)
  const stream = await shake()
  const { headers } = stream.response
  t.match(headers.get('content-type'), /^text\/event-stream/)
  const id = headers.get('mcp-session-id') ?? ''
  t.equal(headers.get('x-session-id'), id)
  t.match(await stream.message(), { method: 'notifications/message', params: { level: 'warning', data: 'hello' } })
  t.match(await stream.message(), { id: 0, result: { protocolVersion: '2025-11-25' } })
  t.strictSame(await stream.rest(), [])
  t.ok(app.mcp.sessions.find(id))
  t.match(await (await new HttpSession(url, id).stream({ id: 1, method: 'ping' })).message(), {
    method: 'notifications/message'
  })
})

t.test('a handshake that failed gives no session, and leaves none', async t => {
  const { app, url } = await listening(t)
  const { headers, body } = await post(url, initialize({ capabilities: 'none' }))
  t.match(body, { id: 0, error: { code: -32602 } })
  t.equal(headers.get('mcp-session-id'), null)
  t.equal(headers.get('x-session-id'), null)
  t.equal(app.mcp.sessions.size, 0)
  t.equal(app.mcp.dispatcher.lifecycle.peers.size, 0)
})

t.test('a handshake that failed on a stream leaves no session', async t => {
  const { app, shake } = await talkative(t)
  const stream = await shake({ capabilities: 'none' })
  t.match(await stream.message(), { method: 'notifications/message' })
  t.match(await stream.message(), { id: 0, error: { code: -32602 } })
  t.strictSame(await stream.rest(), [])
  t.equal(app.mcp.sessions.size, 0)
  t.equal(app.mcp.dispatcher.lifecycle.peers.size, 0)
})
