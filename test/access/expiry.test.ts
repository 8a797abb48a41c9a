import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { serveStdio } from '../../app.js'
import { onExpiry } from '../../protocol/peer/expiry.js'
import { settable } from '../support/clocks.js'
import { modernMeta } from '../support/modern.js'
import { gateway, listening } from '../support/gateway.js'
import { until, within } from '../support/wait.js'
import { client } from '../support/recorder.js'
import { startIssuer } from '../support/environment/issuer.js'
import { openStream, type Json } from '../support/event-reader.js'
import { bearer, ping } from '../support/keys.js'

const LIFE = 2_000

/** A gateway, and a token that is good for a moment from now on: longer where the machine is slow, as clients have to connect meanwhile. */
async function brief (t: Test) {
  const begun = Date.now()
  const issuer = await startIssuer(t)
  const served = await listening(t, { oauth: issuer.options })
  await served.app.mcp.identities.authenticate(await issuer.sign())
  const life = Math.min(20_000, LIFE + 5 * (Date.now() - begun))
  const expires = Date.now() + life
  // A timer of the same moment, which a busy machine delays as much as those of the gateway.
  const due = sleep(life).then(() => Date.now())
  return { ...served, life, expires, due, headers: bearer(await issuer.sign({ scope: 'admin', exp: expires / 1_000 })) }
}

/** That something ended when it had to, and not before. */
async function onTime (t: Test, { expires, due }: { expires: number, due: Promise<number> }): Promise<void> {
  const ended = Date.now()
  t.ok(ended >= expires - 5, `${ended - expires} ms after the end`)
  const late = ended - await due
  t.ok(late < 2_000, `${late} ms after a timer of that moment`)
}

t.test('when a credential expires', async t => {
  t.jobs = 4

  t.test('a WebSocket is closed when the credential that opened it expires', { buffered: true }, async t => {
    const { app, url, headers, ...time } = await brief(t)
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers })
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }))
    await once(socket, 'message')
    const [code, reason] = await within(60_000, async signal => await once(socket, 'close', { signal })) as [number, Buffer]
    await onTime(t, time)
    t.match({ code, reason: String(reason) }, { code: 4401, reason: /expired/ })
    await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  })

  t.test('event streams end in order when the credential that opened them expires', { buffered: true }, async t => {
    const { app, url, headers, ...time } = await brief(t)
    const greeting = await app.inject({ method: 'POST', url: '/mcp', headers, payload: { ...ping, method: 'initialize', params: { protocolVersion: '2025-06-18' } } })
    const session = { 'mcp-session-id': String(greeting.headers['mcp-session-id']) }
    const streams = await Promise.all([openStream(`${url}/sse`, { headers }), openStream(`${url}/mcp/sse`, { headers }), openStream(`${url}/mcp`, { headers: { ...headers, ...session } })])
    for (const stream of streams) t.equal(stream.response.status, 200)
    for (const stream of streams) await stream.rest()
    await onTime(t, time)
    t.equal((await fetch(`${url}/mcp`, { headers: { ...headers, ...session, accept: 'text/event-stream' } })).status, 401)
  })

  t.test('a subscription is answered when its time is over', { buffered: true }, async t => {
    const { url, headers, ...time } = await brief(t)
    const listen = { jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: modernMeta() } }
    const modern = { 'content-type': 'application/json', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' }
    const stream = await openStream(`${url}/mcp`, { method: 'POST', headers: { ...headers, ...modern }, body: JSON.stringify(listen) })
    t.match(await stream.message(), { method: 'notifications/subscriptions/acknowledged' })
    t.match(await stream.message(), { id: 7, result: { resultType: 'complete' } })
    await onTime(t, time)
    t.strictSame(await stream.rest(), [])
  })

  t.test('a call that began in time is answered', { buffered: true }, async t => {
    const { url, headers, expires, life } = await brief(t)
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', arguments: { steps: 4, delay: Math.ceil(life / 4) + 100 } } }
    const response = await fetch(`${url}/message`, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(call) })
    t.match(await response.json(), { result: { content: [{ text: '4 steps' }] } })
    t.ok(Date.now() >= expires)
  })
})

t.test('nothing is served to an expired peer, timers or not', async t => {
  const app = await gateway(t)
  const late = client(app.mcp.dispatcher, { transport: 'websocket', identity: { principal: 'ada', scopes: 'all', expires: Date.now() - 1 } })
  for (const method of ['initialize', 'ping', 'tools/list', 'tools/call']) {
    t.match(await late.request(method), { error: { code: -32600, message: /^Unauthorized: .*expired.*new/ } }, method)
  }
})

t.test('a frame that comes after the end closes the socket and is not answered', async t => {
  const { url, headers, expires } = await brief(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers })
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const { now } = Date
  Date.now = () => expires
  t.teardown(() => { Date.now = now })
  const messages: unknown[] = []
  socket.on('message', data => { messages.push(String(data)) })
  socket.send(JSON.stringify(ping))
  const [code] = await within(60_000, async signal => await once(socket, 'close', { signal })) as [number]
  t.strictSame({ code, messages }, { code: 4401, messages: [] })
})

t.test('stdio refuses calls when its token has expired, with an error that names the remedy', async t => {
  const app = await gateway(t, { http: false })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const clock = settable(t)
  const expires = Date.now() + 60_000
  serveStdio(app.mcp, { input, output, maxMessage: 10_000, identity: { principal: 'ada', scopes: 'all', expires } })
  const ask = async (message: object): Promise<Json> => {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const [line] = await within(60_000, async signal => await once(output, 'data', { signal }))
    return JSON.parse(String(line)) as Json
  }
  t.match(await ask({ id: 0, method: 'initialize', params: {} }), { result: {} })
  clock.later = 60_000
  t.match(await ask({ id: 1, method: 'ping' }), { id: 1, error: { code: -32600, message: /start the server again with a new token/ } })
  input.end()
})

t.test('waiting for an expiry keeps no process alive, can be cancelled, and can outlast a timer', async t => {
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  let expired = 0
  const far = onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() + 2 ** 40 }, () => { expired++ })
  const near = onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() + 20 }, () => { expired += 100 })
  const never = onExpiry({ principal: 'a', scopes: 'all' }, () => { expired++ })
  t.equal(timers(), before, 'no timer keeps the process')
  near()
  onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() - 1 }, () => { expired += 10 })
  t.equal(expired, 0, 'never while somebody is being told')
  await new Promise(resolve => setTimeout(resolve, 60))
  t.equal(expired, 10)
  far()
  never()
})
