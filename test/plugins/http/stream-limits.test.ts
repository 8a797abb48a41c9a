import t from 'tap'
import { modernMeta } from '../../support/modern.js'
import { listening } from '../../support/gateway.js'
import { until } from '../../support/wait.js'
import { openSession, post, slow } from '../../support/http-session.js'
import { openStream } from '../../support/event-reader.js'

const modern = (method: string, name?: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name })
})
const listen = (id: number) => ({
  id,
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true }, _meta: modernMeta() }
})

t.test('streams beyond the limit are refused before they open, until one of the others ends', async t => {
  const { app, url } = await listening(t, { limits: { maxStreams: 2 } })
  const session = await openSession(url)
  const streams = [await openStream(`${url}/sse`), await session.listen()]
  const [sessions, peers] = [app.mcp.sessions.size, app.mcp.dispatcher.lifecycle.peers.size]
  for (const path of ['/sse', '/mcp/sse']) {
    const { response } = await openStream(`${url}${path}`)
    t.match([response.status, response.headers.get('retry-after')], [503, '1'], path)
    t.match(await response.json(), { error: { message: /too many event streams \(limit maxStreams\)/ } })
  }
  const other = await openSession(url)
  t.equal((await other.listen()).response.status, 503, 'GET /mcp')
  t.strictSame(
    [app.mcp.sessions.size, app.mcp.dispatcher.lifecycle.peers.size],
    [sessions + 1, peers + 1],
    'nothing is left of those that were refused'
  )
  streams[0]?.drop()
  await until(() => app.mcp.eventStreams.hasCapacity)
  const again = await other.listen()
  t.equal(again.response.status, 200)
  for (const stream of [...streams, again]) stream.drop()
})

t.test('a call that gets no stream is answered without its notifications', async t => {
  const { url } = await listening(t, { limits: { maxStreams: 1 } })
  const session = await openSession(url)
  const stream = await openStream(`${url}/sse`)
  const legacy = await session.post(slow(1, 3, 1))
  t.match(
    [legacy.status, legacy.headers.get('content-type'), legacy.body],
    [200, /json/, { id: 1, result: { content: [{ text: '3 steps' }] } }]
  )
  const params = { name: 'slow', arguments: { steps: 3, delay: 1 }, _meta: { ...modernMeta(), progressToken: 'p' } }
  const stateless = await post(url, { id: 2, method: 'tools/call', params }, modern('tools/call', 'slow'))
  t.match([stateless.status, stateless.body], [200, { id: 2, result: { content: [{ text: '3 steps' }] } }])
  stream.drop()
})

t.test('a subscription that cannot have a stream is refused with Retry-After', async t => {
  const { app, url } = await listening(t, { limits: { maxStreams: 1 } })
  const first = await openStream(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...modern('subscriptions/listen') },
    body: JSON.stringify({ jsonrpc: '2.0', ...listen(1) })
  })
  t.match(await first.message(), { method: 'notifications/subscriptions/acknowledged' })
  const second = await post(url, listen(2), modern('subscriptions/listen'))
  t.match(
    [second.status, second.headers.get('retry-after'), second.body],
    [503, '1', { id: 2, error: { code: -32603, message: /overloaded .*maxStreams/ } }]
  )
  first.drop()
  await until(() => app.mcp.eventStreams.hasCapacity)
})

t.test('a question that cannot have a stream is not sent, and its call fails with the reason', async t => {
  const { url } = await listening(t, { limits: { maxStreams: 1 } })
  const session = await openSession(url, '2025-11-25', { elicitation: {} })
  const stream = await openStream(`${url}/sse`)
  const { body } = await session.post({ id: 1, method: 'tools/call', params: { name: 'ask_name', arguments: {} } })
  t.match(body, { id: 1, result: { isError: true, content: [{ text: /no stream on which it could be asked/ }] } })
  stream.drop()
})
