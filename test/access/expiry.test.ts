import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { serveStdio, tool } from '../../app.js'
import { onExpiry, rescheduleExpiry } from '../../protocol/peer/expiry.js'
import { settable, stopTime } from '../support/clocks.js'
import { modernMeta } from '../support/modern.js'
import { gateway, listening } from '../support/gateway.js'
import { until, within } from '../support/wait.js'
import { client } from '../support/recorder.js'
import { startIssuer } from '../support/environment/issuer.js'
import { openStream, type Json } from '../support/event-reader.js'
import { bearer, ping } from '../support/keys.js'

const LIFE = 600_000

/** A gateway, and a token that expires when the test turns the clock. */
async function brief (t: Test) {
  const clock = settable(t)
  const issuer = await startIssuer(t)
  const served = await listening(t, { oauth: issuer.options })
  await served.app.mcp.identities.authenticate(await issuer.sign())
  const expires = Date.now() + LIFE
  const token = await issuer.sign({ scope: 'admin', exp: expires / 1_000 })
  const identity = await served.app.mcp.identities.authenticate(token)
  /** Turns the clock to the moment at which it expires. */
  const expire = (): void => {
    clock.later += expires - Date.now()
    rescheduleExpiry(identity)
  }
  return { ...served, expires, expire, headers: bearer(token) }
}

t.test('when a credential expires', async t => {
  t.test('a WebSocket is closed when the credential that opened it expires', async t => {
    const { app, url, headers, expire } = await brief(t)
    const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers })
    t.teardown(() => socket.terminate())
    await once(socket, 'open')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }))
    await once(socket, 'message')
    expire()
    const [code, reason] = (await within(60_000, async signal => await once(socket, 'close', { signal }))) as [
      number,
      Buffer
    ]
    t.match({ code, reason: String(reason) }, { code: 4401, reason: /expired/ })
    await until(() => app.mcp.dispatcher.lifecycle.peers.size === 0)
  })

  t.test('event streams end in order when the credential that opened them expires', async t => {
    const { app, url, headers, expire } = await brief(t)
    const greeting = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers,
      payload: { ...ping, method: 'initialize', params: { protocolVersion: '2025-06-18' } }
    })
    const session = { 'mcp-session-id': String(greeting.headers['mcp-session-id']) }
    const streams = await Promise.all([
      openStream(`${url}/sse`, { headers }),
      openStream(`${url}/mcp/sse`, { headers }),
      openStream(`${url}/mcp`, { headers: { ...headers, ...session } })
    ])
    for (const stream of streams) t.equal(stream.response.status, 200)
    expire()
    for (const stream of streams) await stream.rest()
    t.equal(
      (await fetch(`${url}/mcp`, { headers: { ...headers, ...session, accept: 'text/event-stream' } })).status,
      401
    )
  })

  t.test('a subscription is answered when its time is over', async t => {
    const { url, headers, expire } = await brief(t)
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
    const stream = await openStream(`${url}/mcp`, {
      method: 'POST',
      headers: { ...headers, ...modern },
      body: JSON.stringify(listen)
    })
    t.match(await stream.message(), { method: 'notifications/subscriptions/acknowledged' })
    expire()
    t.match(await stream.message(), { id: 7, result: { resultType: 'complete' } })
    t.strictSame(await stream.rest(), [])
  })

  t.test('a call that began in time is answered', async t => {
    const { app, url, headers, expire } = await brief(t)
    let finish: (() => void) | undefined
    app.mcp.tools.add(
      tool({
        name: 'lasting',
        description: 'd',
        run: async () =>
          await new Promise<string>(resolve => {
            finish = () => resolve('done')
          })
      })
    )
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'lasting' } }
    const reply = fetch(`${url}/message`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(call)
    })
    await until(() => finish !== undefined, 'the call')
    expire()
    t.equal(
      (
        await fetch(`${url}/message`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(ping)
        })
      ).status,
      401
    )
    finish?.()
    t.match(await (await reply).json(), { result: { content: [{ text: 'done' }] } })
  })
})

t.test('nothing is served to an expired peer, timers or not', async t => {
  const app = await gateway(t)
  const late = client(app.mcp.dispatcher, {
    transport: 'websocket',
    identity: { principal: 'ada', scopes: 'all', expires: Date.now() - 1 }
  })
  for (const method of ['initialize', 'ping', 'tools/list', 'tools/call']) {
    t.match(await late.request(method), { error: { code: -32600, message: /^Unauthorized: .*expired.*new/ } }, method)
  }
})

t.test('a frame that comes after the end closes the socket and is not answered', async t => {
  const { url, headers, expires } = await brief(t)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/mcp`, { headers })
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  t.intercept(Date, 'now', { value: () => expires })
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
  t.match(await ask({ id: 1, method: 'ping' }), {
    id: 1,
    error: { code: -32600, message: /start the server again with a new token/ }
  })
  input.end()
})

t.test('waiting for an expiry keeps no process alive', async t => {
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const stops = [2 ** 40, 20].map(life =>
    onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() + life }, () => {})
  )
  t.equal(timers(), before, 'no timer keeps the process')
  for (const stop of stops) stop()
})

t.test('an expiry is told of at its moment and once, can be cancelled, and can outlast a timer', async t => {
  const { pass } = stopTime(t)
  let expired = 0
  const far = onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() + 2 ** 40 }, () => { expired++ })
  const near = onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() + 20 }, () => { expired += 100 })
  const never = onExpiry({ principal: 'a', scopes: 'all' }, () => { expired++ })
  near()
  onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() - 1 }, () => { expired += 10 })
  t.equal(expired, 0, 'never while somebody is being told')
  await pass(120_000, 1_000)
  t.equal(expired, 10)
  onExpiry({ principal: 'a', scopes: 'all', expires: Date.now() + 200_000 }, () => { expired += 1_000 })
  await pass(199_995, 1_000)
  t.equal(expired, 10, 'not before')
  await pass(10)
  t.equal(expired, 1_010)
  far()
  never()
})
