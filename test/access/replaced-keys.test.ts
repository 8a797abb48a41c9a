import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { modernMeta } from '../support/modern.js'
import { listening } from '../support/gateway.js'
import { within } from '../support/wait.js'
import { openStream } from '../support/event-reader.js'
import { ADA, bearer, BOB, listed, ping } from '../support/keys.js'

/** Long enough for a busy machine, in milliseconds. */
const WAIT = 30_000
const [ada, bob] = [listed('ada', ADA), listed('bob', BOB)]

async function keyed (t: Test) {
  const served = await listening(t, { apiKeys: [ada, bob] })
  const status = async (key: string) =>
    (await served.app.inject({ method: 'POST', url: '/message', payload: ping, headers: bearer(key) })).statusCode
  return { ...served, status }
}

async function connect (t: Test, url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}`, { headers })
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const ask = async (message: object) => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
    const [data] = await within(WAIT, async signal => await once(socket, 'message', { signal })) as [Buffer]
    return JSON.parse(String(data)) as { result?: { tools: Array<{ name: string }> }, error?: { code: number } }
  }
  await ask({ id: 0, method: 'initialize', params: {} })
  const closed = once(socket, 'close') as Promise<[number, Buffer]>
  return { socket, ask, closed }
}

t.test('removing a key ends its WebSockets, streams, subscriptions and tickets, and no others', async t => {
  const { app, url, status } = await keyed(t)
  const gone = await connect(t, `${url}/mcp`, bearer(ADA))
  const stays = await connect(t, `${url}/mcp`, bearer(BOB))
  const { ticket } = (await app.inject({ method: 'POST', url: '/ticket', headers: bearer(ADA) })).json<{
    ticket: string
  }>()
  const stream = await openStream(`${url}/sse`, { headers: bearer(ADA) })
  const other = await openStream(`${url}/mcp/sse`, { headers: bearer(BOB) })
  const listen = {
    jsonrpc: '2.0',
    id: 7,
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, _meta: modernMeta() }
  }
  const modern = {
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'subscriptions/listen'
  }
  const subscription = await openStream(`${url}/mcp`, {
    method: 'POST',
    headers: { ...bearer(ADA), ...modern },
    body: JSON.stringify(listen)
  })
  t.match(await subscription.message(), { method: 'notifications/subscriptions/acknowledged' })

  t.match(app.mcp.identities.replaceKeys([bob]), { added: [], removed: ['ada'], changed: [] })
  t.equal(await status(ADA), 401)
  t.equal(await status(BOB), 200)
  const [code, reason] = await within(WAIT, async () => await gone.closed)
  t.match({ code, reason: String(reason) }, { code: 4401, reason: /expired/ })
  await within(WAIT, async () => await stream.rest())
  t.match(await subscription.message(), { id: 7, result: {} })
  const late = new WebSocket(`${url.replace('http', 'ws')}/mcp?ticket=${ticket}`)
  const [, response] = await once(late, 'unexpected-response') as [unknown, { statusCode: number }]
  late.on('error', () => {}).terminate()
  t.equal(response.statusCode, 401, 'a ticket ends with its key')
  t.match(await stays.ask({ id: 1, method: 'ping' }), { result: {} })
  t.equal(stays.socket.readyState, WebSocket.OPEN)
  other.drop()
})

t.test('a frame that crosses the removal is not answered', async t => {
  const { app, url } = await keyed(t)
  const { socket, closed } = await connect(t, `${url}/mcp`, bearer(ADA))
  const messages: string[] = []
  socket.on('message', data => { messages.push(String(data)) })
  app.mcp.identities.replaceKeys([bob])
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }))
  const [code] = await within(WAIT, async () => await closed)
  t.strictSame({ code, messages }, { code: 4401, messages: [] })
})

t.test('a key with other scopes has them at once, on open connections, too', async t => {
  const { app, url } = await keyed(t)
  const { ask, socket } = await connect(t, `${url}/mcp`, bearer(ADA))
  const tools = async () => ((await ask({ id: 1, method: 'tools/list' })).result?.tools ?? []).map(({ name }) => name)
  t.notOk((await tools()).includes('add_note'))
  t.match(app.mcp.identities.replaceKeys([listed('ada', ADA, ['mcp', 'notes']), bob]), {
    added: [],
    removed: [],
    changed: ['ada']
  })
  t.ok((await tools()).includes('add_note'))
  app.mcp.identities.replaceKeys([listed('ada', ADA, []), bob])
  t.strictSame(await tools(), [])
  t.equal(socket.readyState, WebSocket.OPEN)
})

t.test('a key that gets an end ends then, one that loses it goes on', async t => {
  const { app, url, status } = await keyed(t)
  const first = await connect(t, `${url}/mcp`, bearer(ADA))
  const soon = (ms: number) => ({ expires: new Date(Date.now() + ms).toISOString() })
  app.mcp.identities.replaceKeys([listed('ada', ADA, ['mcp'], soon(600_000)), bob])
  app.mcp.identities.replaceKeys([listed('ada', ADA, ['mcp'], soon(-1)), bob])
  t.equal((await within(WAIT, async () => await first.closed))[0], 4401)
  t.equal(await status(ADA), 401)
  app.mcp.identities.replaceKeys([ada, bob])
  t.equal(await status(ADA), 200)
  const second = await connect(t, `${url}/mcp`, bearer(ADA))
  t.match(await second.ask({ id: 1, method: 'ping' }), { result: {} })
})

t.test('an invalid list changes nothing', async t => {
  const { app, status } = await keyed(t)
  t.throws(() => app.mcp.identities.replaceKeys([ada, { ...ada, name: 'eve' }]), {
    message: /apiKeys\.1\.hash is listed twice/
  })
  t.throws(() => app.mcp.identities.replaceKeys([listed('ada', ADA, [], { expires: '2030-99-99' })]), {
    message: /apiKeys\.0\.expires/
  })
  for (const key of [ADA, BOB]) t.equal(await status(key), 200)
  t.match(app.mcp.identities.replaceKeys([bob, ada]), { added: [], removed: [], changed: [], holders: [] })
})

t.test('without its last key a gateway lets no caller in', async t => {
  const { app, status } = await keyed(t)
  app.mcp.identities.replaceKeys([])
  for (const key of [ADA, BOB, 'x']) t.equal(await status(key), 401)
  t.equal((await app.inject({ method: 'POST', url: '/message', payload: ping })).statusCode, 401)
  app.mcp.identities.replaceKeys([listed('eve', BOB)])
  t.equal(await status(BOB), 200)
})

t.test('a key that moves to another name is another caller, and the connections of the former end', async t => {
  const { app, url } = await keyed(t)
  const { closed } = await connect(t, `${url}/mcp`, bearer(ADA))
  t.match(app.mcp.identities.replaceKeys([listed('eve', ADA), bob]), { added: ['eve'], removed: ['ada'], changed: [] })
  t.equal((await within(WAIT, async () => await closed))[0], 4401)
  t.match(await app.mcp.identities.authenticate(ADA), { principal: 'key:eve' })
})
